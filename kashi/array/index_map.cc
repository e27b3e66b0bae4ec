// IndexMap::Make: IndexMapBuilder walks the tiles and knows every dimension as digits of an index (Split, Merge), then
// writes them down as sums of quotients for the way to the position (EmitSums), and as they are for the way back
// (EmitDigits).
#include "kashi/array/index_map.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/layout.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {

// -------------------------------------------------------------------------------------------------------------- making

class IndexMapBuilder {
 public:
  explicit IndexMapBuilder(const Shape& array) : shape_(array), layout_(array.layout()) {}
  absl::StatusOr<IndexMap> Build();

 private:
  // A dimension between two tiles: the digit floor(v / divisor) mod modulus of the value v of a source.
  // Inv: modulus == bound, unless 0: the most major digit of its source, which has no modulus.
  struct Digit {
    int32_t source;
    uint64_t divisor;
    int64_t modulus;
    int64_t bound;
    bool within_tile;  // of the first level; else it counts tiles, or no tile covers it
  };
  // A value cut into digits: first the logical dimensions, then those in between.
  //   made of no digits (beside logical dimensions): a 1 in front, for a tile longer than the rank; always 0
  //   made of one:                                   a digit that a later tile cuts where it does not nest
  //   made of several:                               dimensions merged by `*`
  struct Source {
    int64_t bound;
    int32_t parts_begin;  // minor to major
    int32_t parts_end;
  };
  struct Part {
    Digit digit;
    uint64_t stride;  // within the source
  };
  // A term of the sum for a source (or for the position: source_count()), before those for one quotient are added up.
  struct RawTerm {
    int32_t target;
    int32_t source;
    uint64_t divisor;
    uint64_t coefficient;
  };

  int source_count() const { return static_cast<int>(sources_.size()); }
  int rank() const { return shape_.dimensions_size(); }
  absl::Status StartWithDimensions();
  absl::Status ApplyTile(const Tile& tile, bool is_first);
  absl::StatusOr<Digit> Merge(absl::Span<const Digit> run, const Tile& tile);
  void Split(const Digit& digit, int64_t tile_size, bool is_first, Digit* count, Digit* within);
  Digit MakeSource(int64_t bound, bool within_tile);
  absl::Status SetSizes(IndexMap* map) const;
  int64_t TileElementCount() const;
  std::vector<Part> PhysicalParts() const;
  absl::Span<const Part> PartsOf(int32_t source) const {
    const Source& made = sources_[source];
    return absl::MakeConstSpan(parts_).subspan(made.parts_begin, made.parts_end - made.parts_begin);
  }
  void AppendDigitOf(const Part& part, int32_t target, std::vector<RawTerm>* raw) const;
  void EmitSums(absl::Span<const Part> physical, IndexMap::Sums* sums) const;
  void AppendTerms(absl::Span<const RawTerm> raw, absl::Span<const int32_t> value_of,
                   std::vector<IndexMap::Term>* terms) const;
  void SeparateStrides(IndexMap::Sums* sums) const;
  void EmitDigits(absl::Span<const Part> physical, int64_t physical_bound, IndexMap::Digits* digits) const;
  static void EmitContainer(absl::Span<const Part> parts, int32_t value, int64_t bound,
                            absl::Span<const int32_t> value_of, IndexMap::Digits* digits);
  static IndexMap::Divisor MakeDivisor(uint64_t divisor, uint64_t value_bound);

  const Shape& shape_;
  const Layout& layout_;
  absl::InlinedVector<Digit, 12> digits_;  // the dimensions after the tiles so far, major to minor
  absl::InlinedVector<Source, 12> sources_;
  std::vector<Part> parts_;
  bool tiles_interleave_ = false;
};

absl::StatusOr<IndexMap> IndexMap::Make(const Shape& shape) {
  if (!shape.IsArray()) {
    return InvalidArgumentStrCat("only an array has positions in memory: ", shape.ToString());
  }
  const Shape& array = shape.IsBuffer() ? shape.buffer_shape() : shape;
  if (!array.has_layout()) return InvalidArgumentStrCat("shape ", array.ToString(), " does not have a layout");
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(array.layout(), array));
  return IndexMapBuilder(array).Build();
}

absl::StatusOr<IndexMap> IndexMapBuilder::Build() {
  KASHI_RETURN_IF_ERROR(StartWithDimensions());
  bool is_first = true;
  for (const Tile& tile : layout_.tiles()) {
    KASHI_RETURN_IF_ERROR(ApplyTile(tile, is_first));
    is_first = false;
  }
  IndexMap map;
  KASHI_RETURN_IF_ERROR(SetSizes(&map));
  if (map.tiled_element_count_ == 0) return map;
  const std::vector<Part> physical = PhysicalParts();
  EmitSums(physical, &map.to_physical_);
  EmitDigits(physical, map.tiled_element_count_, &map.to_logical_);
  return map;
}

absl::Status IndexMapBuilder::StartWithDimensions() {
  for (int i = 0; i < rank(); ++i) {
    if (shape_.is_unbounded_dynamic_dimension(i)) {
      return InvalidArgumentStrCat("dimension ", i, " of ", shape_.ToString(),
                                   " is unbounded, so it has no positions in memory");
    }
    if (shape_.dimensions(i) < 0) {
      return InvalidArgumentStrCat("dimension ", i, " of ", shape_.ToString(), " is negative");
    }
    sources_.push_back(Source{shape_.dimensions(i), 0, 0});
  }
  for (int i = rank() - 1; i >= 0; --i) {
    const int32_t dimension = static_cast<int32_t>(layout_.minor_to_major(i));
    digits_.push_back(Digit{dimension, 1, 0, shape_.dimensions(dimension), false});
  }
  return absl::OkStatus();
}

// A new value in between, as the one digit of itself. The caller appends its parts.
IndexMapBuilder::Digit IndexMapBuilder::MakeSource(int64_t bound, bool within_tile) {
  const int32_t parts = static_cast<int32_t>(parts_.size());
  sources_.push_back(Source{bound, parts, parts});
  return Digit{static_cast<int32_t>(sources_.size()) - 1, 1, 0, bound, within_tile};
}

// The dimensions [..., head, tail of the tile's length] become [..., head, counts of tiles, dimensions within the
// tile].
absl::Status IndexMapBuilder::ApplyTile(const Tile& tile, bool is_first) {
  const absl::Span<const int64_t> sizes = tile.dimensions();
  if (digits_.size() < sizes.size()) {
    std::vector<Digit> ones;
    for (size_t i = digits_.size(); i < sizes.size(); ++i) ones.push_back(MakeSource(1, false));
    digits_.insert(digits_.begin(), ones.begin(), ones.end());
  }
  const absl::InlinedVector<Digit, 8> tail(digits_.end() - sizes.size(), digits_.end());
  digits_.erase(digits_.end() - sizes.size(), digits_.end());
  absl::InlinedVector<Digit, 8> within;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const size_t run_begin = i;
    while (sizes[i] == Tile::kCombineDimension) {
      if (++i == sizes.size()) {
        return InvalidArgumentStrCat("tile ", tile.ToString(), " of ", shape_.ToString(/*print_layout=*/true),
                                     " ends with `*`, but there is no more minor dimension to merge with");
      }
    }
    if (sizes[i] <= 0) return InvalidArgumentStrCat("tile dimension must be positive or `*`, got ", sizes[i]);
    KASHI_ASSIGN_OR_RETURN(const Digit digit,
                           Merge(absl::MakeConstSpan(tail).subspan(run_begin, i + 1 - run_begin), tile));
    Split(digit, sizes[i], is_first, &digits_.emplace_back(), &within.emplace_back());
  }
  digits_.insert(digits_.end(), within.begin(), within.end());
  return absl::OkStatus();
}

// Dimensions of size 1 add nothing to a run; if at most one other is left, nothing is merged.
absl::StatusOr<IndexMapBuilder::Digit> IndexMapBuilder::Merge(absl::Span<const Digit> run, const Tile& tile) {
  std::optional<int64_t> bound = 1;
  const Digit* only = nullptr;
  int count = 0;
  for (const Digit& digit : run) {
    bound = CheckedMultiply(*bound, digit.bound);
    if (!bound) {
      return InvalidArgumentStrCat("the dimensions that tile ", tile.ToString(), " of ",
                                   shape_.ToString(/*print_layout=*/true), " merges have more than 2^63-1 elements");
    }
    if (digit.bound == 1) continue;
    if (only != nullptr && only->within_tile != digit.within_tile) tiles_interleave_ = true;
    only = &digit;
    ++count;
  }
  if (count == 0) return run.back();
  if (count == 1) return *only;
  const Digit merged = MakeSource(*bound, only->within_tile);
  uint64_t stride = 1;
  for (size_t i = run.size(); i-- > 0;) {
    if (run[i].bound == 1) continue;
    parts_.push_back(Part{run[i], stride});
    stride *= static_cast<uint64_t>(run[i].bound);
  }
  sources_.back().parts_end = static_cast<int32_t>(parts_.size());
  return merged;
}

// digit(d, m) by t: the tile is digit(d*t, m/t) and the place within it digit(d, t), if t divides m or there is no m.
// Else the digit becomes a source of its own, which has no modulus. Products wrap only if the array is empty or
// SetSizes finds that it is too large: each divisor is a product of bounds, and bounds only grow from tile to tile.
void IndexMapBuilder::Split(const Digit& digit, int64_t tile_size, bool is_first, Digit* count, Digit* within) {
  Digit whole = digit;
  if (digit.modulus % tile_size != 0) {
    whole = MakeSource(digit.bound, digit.within_tile);
    parts_.push_back(Part{digit, 1});
    sources_.back().parts_end = static_cast<int32_t>(parts_.size());
  }
  *count = whole;
  count->divisor *= static_cast<uint64_t>(tile_size);
  count->modulus /= tile_size;
  count->bound = CeilOfRatio(whole.bound, tile_size);
  *within = whole;
  within->modulus = tile_size;
  within->bound = tile_size;
  within->within_tile = whole.within_tile || is_first;
}

absl::Status IndexMapBuilder::SetSizes(IndexMap* map) const {
  const auto too_large = [this] {
    return InvalidArgumentStrCat("the size of ", shape_.ToString(/*print_layout=*/true),
                                 " in bytes does not fit in 63 bits");
  };
  const auto product = [](absl::Span<const int64_t> sizes) -> std::optional<int64_t> {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
    std::optional<int64_t> result = 1;
    for (size_t i = 0; i < sizes.size() && result; ++i) result = CheckedMultiply(*result, sizes[i]);
    return result;
  };
  map->dimensions_.assign(shape_.dimensions().begin(), shape_.dimensions().end());
  for (const Digit& digit : digits_) map->physical_dimensions_.push_back(digit.bound);
  const std::optional<int64_t> elements = product(map->dimensions_);
  const std::optional<int64_t> tiled = product(map->physical_dimensions_);
  if (!elements || !tiled) return too_large();
  const std::optional<int64_t> padded = CheckedRoundUpTo(*tiled, layout_.tail_padding_alignment_in_elements());
  if (!padded) return too_large();
  map->element_size_in_bits_ = layout_.element_size_in_bits() != 0
                                   ? layout_.element_size_in_bits()
                                   : int64_t{8} * GetPrimitiveTypeInfo(shape_.element_type()).bytes;
  map->prefix_bytes_ = std::max<int64_t>(0, layout_.dynamic_shape_metadata_prefix_bytes());
  const std::optional<int64_t> bytes = CheckedPackedBytes(*padded, map->element_size_in_bits_);
  if (!bytes || !CheckedAdd(*bytes, map->prefix_bytes_)) return too_large();
  map->element_count_ = *elements;
  map->tiled_element_count_ = *tiled;
  map->padded_element_count_ = *padded;
  map->byte_size_ = map->prefix_bytes_ + *bytes;
  map->tile_element_count_ = TileElementCount();
  return absl::OkStatus();
}

int64_t IndexMapBuilder::TileElementCount() const {
  if (layout_.tiles_size() == 0 || tiles_interleave_) return 0;
  std::optional<int64_t> count = 1;
  bool within_tile = false;
  for (const Digit& digit : digits_) {
    if (digit.bound == 1) continue;
    if (within_tile && !digit.within_tile) return 0;
    within_tile = digit.within_tile;
    if (within_tile && count) count = CheckedMultiply(*count, digit.bound);
  }
  return count.value_or(0);  // too large: then the array is empty, for else its size would not fit
}

// The physical dimensions that can hold more than one position, with their strides, minor to major.
std::vector<IndexMapBuilder::Part> IndexMapBuilder::PhysicalParts() const {
  std::vector<Part> parts;
  uint64_t stride = 1;
  for (size_t i = digits_.size(); i-- > 0;) {
    if (digits_[i].bound == 1) continue;
    parts.push_back(Part{digits_[i], stride});
    stride *= static_cast<uint64_t>(digits_[i].bound);
  }
  return parts;
}

// part.stride * (floor(v / divisor) mod modulus), v the value of the digit's source. A quotient by more than the
// largest value is 0; so is every digit of a source of bound 1.
void IndexMapBuilder::AppendDigitOf(const Part& part, int32_t target, std::vector<RawTerm>* raw) const {
  const Digit& digit = part.digit;
  const uint64_t bound = static_cast<uint64_t>(sources_[digit.source].bound);
  const uint64_t modulus = static_cast<uint64_t>(digit.modulus);
  if (digit.divisor < bound) raw->push_back(RawTerm{target, digit.source, digit.divisor, part.stride});
  if (modulus != 0 && digit.divisor * modulus < bound) {
    raw->push_back(RawTerm{target, digit.source, digit.divisor * modulus, uint64_t{0} - part.stride * modulus});
  }
}

void IndexMapBuilder::EmitSums(absl::Span<const Part> physical, IndexMap::Sums* sums) const {
  std::vector<RawTerm> raw;
  // A value in between without a term is always 0, though its bound may be more.
  std::vector<bool> is_zero(sources_.size(), false);
  const auto append = [&](absl::Span<const Part> parts, int32_t target) {
    for (const Part& part : parts) {
      if (!is_zero[part.digit.source]) AppendDigitOf(part, target, &raw);
    }
  };
  for (int32_t source = rank(); source < source_count(); ++source) {
    const size_t term_count = raw.size();
    append(PartsOf(source), source);
    is_zero[source] = raw.size() == term_count;
  }
  append(physical, source_count());
  // Marks the values that the result needs. A term's target was made after its source, so one pass backwards finds all.
  std::vector<bool> is_needed(sources_.size() + 1, false);
  is_needed.back() = true;
  for (size_t i = raw.size(); i-- > 0;) {
    if (is_needed[raw[i].target]) is_needed[raw[i].source] = true;
  }
  std::vector<int32_t> value_of(sources_.size() + 1, -1);
  int32_t value_count = 0;
  for (int32_t source = 0; source <= source_count(); ++source) {
    if (source < rank() || is_needed[source]) value_of[source] = value_count++;
  }
  sums->terms.reserve(raw.size());
  for (size_t begin = 0, end = 0; begin < raw.size(); begin = end) {  // the terms of one target lie together
    while (end < raw.size() && raw[end].target == raw[begin].target) ++end;
    const int32_t target = raw[begin].target;
    if (!is_needed[target]) continue;
    std::sort(raw.begin() + begin, raw.begin() + end, [](const RawTerm& a, const RawTerm& b) {
      return std::make_tuple(a.divisor != 1, a.source, a.divisor) <
             std::make_tuple(b.divisor != 1, b.source, b.divisor);
    });
    const int32_t first = static_cast<int32_t>(sums->terms.size());
    AppendTerms(absl::MakeConstSpan(raw).subspan(begin, end - begin), value_of, &sums->terms);
    if (target == source_count()) {
      sums->result_begin = first;
    } else {
      sums->inner.push_back(IndexMap::Sum{value_of[target], first, static_cast<int32_t>(sums->terms.size())});
    }
  }
  SeparateStrides(sums);
}

// Adds up the terms of one quotient and drops those that cancel. Pre: `raw` has one target, and terms of one quotient
// lie together.
void IndexMapBuilder::AppendTerms(absl::Span<const RawTerm> raw, absl::Span<const int32_t> value_of,
                                  std::vector<IndexMap::Term>* terms) const {
  for (size_t i = 0; i < raw.size();) {
    const RawTerm& first = raw[i];
    uint64_t coefficient = 0;
    for (; i < raw.size() && raw[i].source == first.source && raw[i].divisor == first.divisor; ++i) {
      coefficient += raw[i].coefficient;
    }
    if (coefficient == 0) continue;
    const uint64_t bound = static_cast<uint64_t>(sources_[first.source].bound);
    terms->push_back(IndexMap::Term{coefficient, MakeDivisor(first.divisor, bound), value_of[first.source]});
  }
}

void IndexMapBuilder::SeparateStrides(IndexMap::Sums* sums) const {
  if (!sums->inner.empty()) return;
  sums->strides.assign(static_cast<size_t>(rank()), uint64_t{0});
  auto term = sums->terms.begin();
  for (; term != sums->terms.end() && term->divisor.magic == IndexMap::kMagicOfOne; ++term) {
    sums->strides[term->source] = term->coefficient;
  }
  sums->quotients_begin = static_cast<int32_t>(term - sums->terms.begin());
}

// Emits intermediate values from last to first, because the parts of a value were created after it.
void IndexMapBuilder::EmitDigits(absl::Span<const Part> physical, int64_t physical_bound,
                                 IndexMap::Digits* digits) const {
  std::vector<bool> is_made(sources_.size(), false);  // else the value is always 0
  for (const absl::Span<const Part> parts : {physical, absl::MakeConstSpan(parts_)}) {
    for (const Part& part : parts) {
      if (part.digit.bound > 1) is_made[part.digit.source] = true;
    }
  }
  std::vector<int32_t> value_of(sources_.size());
  int32_t value_count = 0;
  for (int32_t source = 0; source < source_count(); ++source) {
    if (source < rank() || is_made[source]) value_of[source] = value_count++;
  }
  EmitContainer(physical, /*value=*/-1, physical_bound, value_of, digits);
  for (int32_t source = source_count() - 1; source >= rank(); --source) {
    if (!is_made[source]) continue;
    EmitContainer(PartsOf(source), value_of[source], sources_[source].bound, value_of, digits);
  }
}

void IndexMapBuilder::EmitContainer(absl::Span<const Part> parts, int32_t value, int64_t bound,
                                    absl::Span<const int32_t> value_of, IndexMap::Digits* digits) {
  // `joined`: neighbours that are neighbours in the source too are one digit there, and here.
  absl::InlinedVector<Part, 12> joined;
  for (const Part& part : parts) {
    if (part.digit.bound == 1) continue;
    if (!joined.empty()) {
      Digit& minor = joined.back().digit;
      if (minor.source == part.digit.source &&
          minor.divisor * static_cast<uint64_t>(minor.bound) == part.digit.divisor) {
        minor.bound *= part.digit.bound;
        continue;
      }
    }
    joined.push_back(part);
  }
  IndexMap::Container container{value, static_cast<int32_t>(digits->digits.size()), 0, static_cast<uint64_t>(bound)};
  for (size_t i = joined.size(); i-- > 0;) {
    const Part& part = joined[i];
    const IndexMap::Divisor divisor = MakeDivisor(part.stride, container.bound);
    digits->digits.push_back(IndexMap::Digit{static_cast<uint64_t>(part.digit.bound), part.digit.divisor, divisor,
                                             value_of[part.digit.source]});
  }
  container.end = static_cast<int32_t>(digits->digits.size());
  digits->containers.push_back(container);
}

// For values n < value_bound <= 2^63, with magic = ceil(2^(63+shift) / d) < 2^64:
//   floor(n/d) = n * magic >> (63+shift)
// magic * d exceeds 2^(63+shift) by less than d, or by nothing if d is a power of two. So the error stays below 1/d if
// n * d < 2^(63+shift): with shift 0 if value_bound * d does not go beyond 2^63, with shift = ceil(log2 d) always.
IndexMap::Divisor IndexMapBuilder::MakeDivisor(uint64_t divisor, uint64_t value_bound) {
  using Wide = unsigned __int128;
  const bool is_short = IsPowerOf2(divisor) || static_cast<Wide>(divisor) * value_bound <= IndexMap::kMagicOfOne;
  const int shift = is_short ? 0 : Log2Ceiling(divisor);
  return IndexMap::Divisor{static_cast<uint64_t>(((static_cast<Wide>(1) << (63 + shift)) + divisor - 1) / divisor),
                           static_cast<uint8_t>(shift)};
}

// -------------------------------------------------------------------------------------------------------------- asking

namespace {

// Room for the index and the values in between; up to 64 without allocation. Holds nothing in particular.
class Scratch {
 public:
  explicit Scratch(size_t size) {
    if (ABSL_PREDICT_TRUE(size <= kInline)) return;
    heap_.resize(size);
    values_ = heap_.data();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  uint64_t* values() { return values_; }

 private:
  static constexpr size_t kInline = 64;
  uint64_t inline_[kInline];
  std::vector<uint64_t> heap_;
  uint64_t* values_ = inline_;
};

}  // namespace

int64_t IndexMap::ToPhysicalWithInner(absl::Span<const int64_t> index) const {
  Scratch scratch(index.size() + to_physical_.inner.size());
  uint64_t* const values = scratch.values();
  std::copy(index.begin(), index.end(), values);
  const Term* const terms = to_physical_.terms.data();
  for (const Sum& sum : to_physical_.inner) {
    values[sum.target] = Sums::Add(terms + sum.begin, terms + sum.end, values, 0);
  }
  return static_cast<int64_t>(
      Sums::Add(terms + to_physical_.result_begin, terms + to_physical_.terms.size(), values, 0));
}

// A digit's quotient is that of the more major one times its bound, plus the digit.
inline void IndexMap::Digits::Distribute(const Container& container, uint64_t value, uint64_t* values) const {
  const Digit* const end = digits.data() + container.end;
  uint64_t more_major = 0;
  for (const Digit* digit = digits.data() + container.begin; digit != end; ++digit) {
    const uint64_t quotient = Quotient(value, digit->divisor);
    values[digit->target] += (quotient - more_major * digit->bound) * digit->weight;
    more_major = quotient;
  }
}

bool IndexMap::PhysicalToLogical(int64_t physical, absl::Span<int64_t> index) const {
  constexpr size_t kFastRank = 8;
  const size_t rank = dimensions_.size();
  if (ABSL_PREDICT_FALSE(physical >= tiled_element_count_)) return false;  // tail padding
  if (ABSL_PREDICT_FALSE(to_logical_.containers.size() != 1 || rank > kFastRank)) {
    return ToLogicalWithInner(physical, index);
  }
  uint64_t values[kFastRank] = {};
  to_logical_.Distribute(to_logical_.containers[0], static_cast<uint64_t>(physical), values);
  const int64_t* const sizes = dimensions_.data();
  for (size_t d = 0; d < rank; ++d) {
    index[d] = static_cast<int64_t>(values[d]);
    if (index[d] >= sizes[d]) return false;
  }
  return true;
}

bool IndexMap::ToLogicalWithInner(int64_t physical, absl::Span<int64_t> index) const {
  const size_t rank = dimensions_.size();
  const size_t value_count = rank + to_logical_.containers.size() - 1;
  Scratch scratch(value_count);
  uint64_t* const values = scratch.values();
  std::fill_n(values, value_count, 0);
  to_logical_.Distribute(to_logical_.containers[0], static_cast<uint64_t>(physical), values);
  for (size_t i = 1; i < to_logical_.containers.size(); ++i) {
    const Container& container = to_logical_.containers[i];
    const uint64_t value = values[container.value];
    if (value >= container.bound) return false;
    to_logical_.Distribute(container, value, values);
  }
  for (size_t d = 0; d < rank; ++d) {
    index[d] = static_cast<int64_t>(values[d]);
    if (index[d] >= dimensions_[d]) return false;
  }
  return true;
}

void IndexMap::ForEachPhysical(int64_t begin, int64_t end, PhysicalVisitor visit) const {
  DimensionVector index(dimensions_.size());
  for (int64_t physical = begin; physical < end; ++physical) {
    const bool is_element = PhysicalToLogical(physical, absl::MakeSpan(index));
    visit(physical, is_element, is_element ? absl::MakeConstSpan(index) : absl::Span<const int64_t>());
  }
}

void IndexMap::ForEachLogical(LogicalVisitor visit) const {
  if (element_count_ == 0) return;
  DimensionVector index(dimensions_.size(), 0);
  while (true) {
    visit(index, LogicalToPhysical(index));
    int d = rank() - 1;
    while (d >= 0 && ++index[d] == dimensions_[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

// ------------------------------------------------------------------------------------------------------------- showing

// The divisor is ceil(2^(63+shift) / magic): magic is that over the divisor, rounded up, and larger than the divisor.
std::string IndexMap::DivisionToString(const std::string& value, const Divisor& divisor) {
  const unsigned __int128 power = static_cast<unsigned __int128>(1) << (63 + divisor.shift);
  const uint64_t number = static_cast<uint64_t>((power + divisor.magic - 1) / divisor.magic);
  return number == 1 ? value : absl::StrCat(value, "/", number);
}

std::string IndexMap::SumToString(int32_t begin, int32_t end, absl::Span<const std::string> names) const {
  std::string out;
  for (int32_t i = begin; i < end; ++i) {
    const Term& term = to_physical_.terms[i];
    const bool is_negative = static_cast<int64_t>(term.coefficient) < 0;
    const uint64_t factor = is_negative ? uint64_t{0} - term.coefficient : term.coefficient;
    absl::StrAppend(&out, is_negative ? (out.empty() ? "-" : " - ") : (out.empty() ? "" : " + "),
                    DivisionToString(names[term.source], term.divisor));
    if (factor != 1) absl::StrAppend(&out, "*", factor);
  }
  return out.empty() ? "0" : out;
}

std::string IndexMap::DigitsToString(int32_t target, absl::Span<const std::string> names) const {
  std::string out;
  for (const Container& container : to_logical_.containers) {
    for (int32_t i = container.begin; i < container.end; ++i) {
      const Digit& digit = to_logical_.digits[i];
      if (digit.target != target) continue;
      absl::StrAppend(&out, out.empty() ? "" : " + ",
                      DivisionToString(container.value < 0 ? "p" : names[container.value], digit.divisor));
      if (i != container.begin) absl::StrAppend(&out, "%", digit.bound);
      if (digit.weight != 1) absl::StrAppend(&out, "*", digit.weight);
    }
  }
  return out.empty() ? "0" : out;
}

std::string IndexMap::ToString() const {
  std::string out = absl::StrCat("dimensions ", absl::StrJoin(dimensions_, ","), " -> ",
                                 absl::StrJoin(physical_dimensions_, ","), "\n");
  if (tiled_element_count_ == 0) return out;
  std::vector<std::string> forward;
  for (int i = 0; i < rank(); ++i) forward.push_back(absl::StrCat("i", i));
  std::vector<std::string> backward = forward;
  for (size_t i = 0; i < to_physical_.inner.size(); ++i) forward.push_back(absl::StrCat("v", i));
  for (size_t i = 1; i < to_logical_.containers.size(); ++i) backward.push_back(absl::StrCat("u", i - 1));
  for (const Sum& sum : to_physical_.inner) {
    absl::StrAppend(&out, forward[sum.target], " = ", SumToString(sum.begin, sum.end, forward), "\n");
  }
  const int32_t term_count = static_cast<int32_t>(to_physical_.terms.size());
  absl::StrAppend(&out, "physical = ", SumToString(to_physical_.result_begin, term_count, forward), "\n");
  const auto show = [&](int32_t value, uint64_t bound) {
    absl::StrAppend(&out, backward[value], " = ", DigitsToString(value, backward), ", padding unless < ", bound, "\n");
  };
  for (size_t i = 1; i < to_logical_.containers.size(); ++i) {
    show(to_logical_.containers[i].value, to_logical_.containers[i].bound);
  }
  for (int i = 0; i < rank(); ++i) show(i, static_cast<uint64_t>(dimensions_[i]));
  return out;
}

}  // namespace kashi
