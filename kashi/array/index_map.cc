// IndexMap::Make: IndexMapBuilder walks the tiles and knows every dimension as digits of an index (Split, Merge), then
// writes the digits as sums of quotients, once from logical to physical and once back (EmitForward, EmitBackward).
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

// --------------------------------------------------------------------------------------------------------------- making

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
    int32_t parts_begin;
    int32_t parts_end;
  };
  struct Part {
    Digit digit;
    uint64_t stride;
  };
  // A term of the sum for a source (or for the position: source_count()), before those for one quotient are added up.
  struct RawTerm {
    int32_t target;
    int32_t source;  // the sum's for EmitForward and EmitBackward, the program's value for MakeSums
    uint64_t divisor;
    uint64_t coefficient;
  };
  struct Target {
    int32_t source;
    int32_t value;  // where the program puts it
    int64_t bound;
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
  void EmitForward(absl::Span<const Part> physical, IndexMap::Program* program) const;
  void EmitBackward(absl::Span<const Part> physical, uint64_t physical_bound, IndexMap::Program* program) const;
  void AppendDigitOf(const Part& part, int32_t target, std::vector<RawTerm>* raw) const;
  static void MakeSums(std::vector<RawTerm> raw, absl::Span<const Target> targets, IndexMap::Program* program);

  const Shape& shape_;
  const Layout& layout_;
  absl::InlinedVector<Digit, 12> digits_;  // the dimensions after the tiles so far, major to minor
  absl::InlinedVector<Source, 12> sources_;
  std::vector<Part> parts_;
  bool tiles_interleave_ = false;
};

absl::StatusOr<IndexMap> IndexMap::Make(const Shape& shape) {
  if (!shape.IsArray()) {
    return InvalidArgumentStrCat("only an array has positions in memory, not ", shape.ToString());
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
  EmitForward(physical, &map.to_physical_);
  EmitBackward(physical, map.tiled_element_count_, &map.to_logical_);
  return map;
}

absl::Status IndexMapBuilder::StartWithDimensions() {
  for (int i = 0; i < rank(); ++i) {
    if (shape_.is_unbounded_dynamic_dimension(i)) {
      return InvalidArgumentStrCat("dimension ", i, " of ", shape_.ToString(), " is unbounded: it has no positions in memory");
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

// The dimensions [..., head, tail of the tile's length] become [..., head, counts of tiles, dimensions within the tile].
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
                                     " ends with `*`: there is no more minor dimension to merge into");
      }
    }
    if (sizes[i] <= 0) return InvalidArgumentStrCat("tile dimension must be positive or `*`, got ", sizes[i]);
    KASHI_ASSIGN_OR_RETURN(const Digit digit, Merge(absl::MakeConstSpan(tail).subspan(run_begin, i + 1 - run_begin), tile));
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
// Else the digit becomes a source of its own, which has no modulus. Products wrap only if the array is empty or SetSizes
// finds that it is too large: each divisor is a product of bounds, and bounds only grow from tile to tile.
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
    return InvalidArgumentStrCat("the size of ", shape_.ToString(/*print_layout=*/true), " does not fit 63 bits");
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
  // In bits, so that BitOffset fits too.
  const std::optional<int64_t> bits = CheckedMultiply(*padded, map->element_size_in_bits_);
  const std::optional<int64_t> prefix_bits = CheckedMultiply(map->prefix_bytes_, 8);
  if (!bits || !prefix_bits || !CheckedAdd(*bits, *prefix_bits)) return too_large();
  map->element_count_ = *elements;
  map->tiled_element_count_ = *tiled;
  map->padded_element_count_ = *padded;
  map->byte_size_ = map->prefix_bytes_ + CeilOfRatio<int64_t>(*bits, 8);
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

// The physical dimensions that can hold more than one position, with their strides.
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

// part.stride * (floor(v / divisor) mod modulus), v the value of the digit's source. A quotient by more than the largest
// value is 0; so is every digit of a source of bound 1.
void IndexMapBuilder::AppendDigitOf(const Part& part, int32_t target, std::vector<RawTerm>* raw) const {
  const Digit& digit = part.digit;
  const uint64_t bound = static_cast<uint64_t>(sources_[digit.source].bound);
  const uint64_t modulus = static_cast<uint64_t>(digit.modulus);
  if (digit.divisor < bound) raw->push_back(RawTerm{target, digit.source, digit.divisor, part.stride});
  if (modulus != 0 && digit.divisor * modulus < bound) {
    raw->push_back(RawTerm{target, digit.source, digit.divisor * modulus, uint64_t{0} - part.stride * modulus});
  }
}

void IndexMapBuilder::EmitForward(absl::Span<const Part> physical, IndexMap::Program* program) const {
  std::vector<RawTerm> raw;
  for (int32_t source = rank(); source < source_count(); ++source) {
    for (int32_t i = sources_[source].parts_begin; i < sources_[source].parts_end; ++i) {
      AppendDigitOf(parts_[i], source, &raw);
    }
  }
  for (const Part& part : physical) AppendDigitOf(part, source_count(), &raw);
  // What the result needs. A term's target was made after its source, so one look backwards finds all.
  std::vector<bool> is_needed(sources_.size() + 1, false);
  is_needed.back() = true;
  for (size_t i = raw.size(); i-- > 0;) {
    if (is_needed[raw[i].target]) is_needed[raw[i].source] = true;
  }
  std::vector<Target> targets;
  std::vector<int32_t> value_of(sources_.size() + 1);
  for (int32_t source = 0; source < rank(); ++source) value_of[source] = source;
  for (int32_t source = rank(); source <= source_count(); ++source) {
    if (!is_needed[source]) continue;
    value_of[source] = rank() + static_cast<int32_t>(targets.size());
    targets.push_back(Target{source, value_of[source], 0});
  }
  program->inner_count = static_cast<int32_t>(targets.size()) - 1;
  for (RawTerm& term : raw) term.source = value_of[term.source];
  MakeSums(std::move(raw), targets, program);
}

// Every digit goes back to its source, from the position (a physical dimension) or from the value that it is part of:
//   divisor * (floor(value / stride) mod bound)
// Values in between are made last to first: what a value is made of was created after it.
void IndexMapBuilder::EmitBackward(absl::Span<const Part> physical, uint64_t physical_bound,
                                   IndexMap::Program* program) const {
  std::vector<RawTerm> raw;
  const auto append = [&](const Part& part, int32_t from, uint64_t from_bound) {
    const uint64_t bound = static_cast<uint64_t>(part.digit.bound);
    const int32_t target = part.digit.source;
    if (part.stride < from_bound) raw.push_back(RawTerm{target, from, part.stride, part.digit.divisor});
    if (part.stride * bound < from_bound) {
      raw.push_back(RawTerm{target, from, part.stride * bound, uint64_t{0} - part.digit.divisor * bound});
    }
  };
  for (const Part& part : physical) append(part, source_count(), physical_bound);
  for (int32_t source = rank(); source < source_count(); ++source) {
    for (int32_t i = sources_[source].parts_begin; i < sources_[source].parts_end; ++i) {
      append(parts_[i], source, static_cast<uint64_t>(sources_[source].bound));
    }
  }
  std::vector<bool> is_made(sources_.size(), false);  // else the value is 0, and no term reads it
  for (const RawTerm& term : raw) is_made[term.target] = true;
  std::vector<Target> targets;
  std::vector<int32_t> value_of(sources_.size() + 1, 0);  // 0 is the position
  for (int32_t source = source_count() - 1; source >= rank(); --source) {
    if (!is_made[source]) continue;
    value_of[source] = static_cast<int32_t>(targets.size()) + 1;
    targets.push_back(Target{source, value_of[source], sources_[source].bound});
  }
  program->inner_count = static_cast<int32_t>(targets.size());
  for (int32_t source = 0; source < rank(); ++source) targets.push_back(Target{source, source, sources_[source].bound});
  for (RawTerm& term : raw) term.source = value_of[term.source];
  MakeSums(std::move(raw), targets, program);
}

namespace {

// For 0 <= n < 2^63 and l = ceil(log2 d), magic = ceil(2^(63+l) / d) < 2^64 gives floor(n/d) = n * magic >> (63+l):
// magic * d exceeds 2^(63+l) by less than d <= 2^l, so the error n * that / 2^(63+l) stays below 1/d.
struct Divisor {
  uint64_t magic;
  uint8_t shift;
};
Divisor MakeDivisor(uint64_t divisor) {
  const int log2 = Log2Ceiling(divisor);
  if (IsPowerOf2(divisor)) return Divisor{0, static_cast<uint8_t>(log2)};
  const unsigned __int128 numerator = static_cast<unsigned __int128>(1) << (63 + log2);
  return Divisor{static_cast<uint64_t>((numerator + divisor - 1) / divisor), static_cast<uint8_t>(log2)};
}

inline uint64_t MultiplyHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

}  // namespace

// Terms of one target and one quotient are added up; what cancels is dropped.
void IndexMapBuilder::MakeSums(std::vector<RawTerm> raw, absl::Span<const Target> targets, IndexMap::Program* program) {
  const auto key = [](const RawTerm& t) {
    return std::make_tuple(t.target, !IsPowerOf2(t.divisor), t.source, t.divisor);
  };
  std::sort(raw.begin(), raw.end(), [&](const RawTerm& a, const RawTerm& b) { return key(a) < key(b); });
  program->terms.reserve(raw.size());
  program->sums.reserve(targets.size());
  for (const Target& target : targets) {
    auto term = std::lower_bound(raw.begin(), raw.end(), target.source,
                                 [](const RawTerm& t, int32_t wanted) { return t.target < wanted; });
    const auto term_count = [&] { return static_cast<int32_t>(program->terms.size()); };
    IndexMap::Sum sum{target.value, term_count(), -1, 0, static_cast<uint64_t>(target.bound)};
    while (term != raw.end() && term->target == target.source) {
      const RawTerm& first = *term;
      uint64_t coefficient = 0;
      for (; term != raw.end() && key(*term) == key(first); ++term) coefficient += term->coefficient;
      if (sum.magic_begin < 0 && !IsPowerOf2(first.divisor)) sum.magic_begin = term_count();
      if (coefficient == 0) continue;
      const Divisor divisor = MakeDivisor(first.divisor);
      program->terms.push_back(IndexMap::Term{coefficient, divisor.magic, first.source, divisor.shift});
    }
    sum.end = term_count();
    if (sum.magic_begin < 0) sum.magic_begin = sum.end;
    program->sums.push_back(sum);
  }
}

// --------------------------------------------------------------------------------------------------------------- asking

inline uint64_t IndexMap::Program::Evaluate(const Sum& sum, const uint64_t* values) const {
  const Term* term = terms.data() + sum.begin;
  const Term* const magic_begin = terms.data() + sum.magic_begin;
  const Term* const end = terms.data() + sum.end;
  uint64_t result = 0;
  for (; term != magic_begin; ++term) result += (values[term->source] >> term->shift) * term->coefficient;
  for (; term != end; ++term) {
    result += (MultiplyHigh(values[term->source] << 1, term->magic) >> term->shift) * term->coefficient;
  }
  return result;
}

namespace {

// Scratch for the values of a program; up to 64 without allocation.
using Values = absl::InlinedVector<uint64_t, 64>;

}  // namespace

int64_t IndexMap::LogicalToPhysical(absl::Span<const int64_t> index) const {
  if (ABSL_PREDICT_FALSE(to_physical_.inner_count != 0)) return ToPhysicalWithInner(index);
  const uint64_t* values = reinterpret_cast<const uint64_t*>(index.data());  // indices are not negative
  return static_cast<int64_t>(to_physical_.Evaluate(to_physical_.sums.back(), values));
}

int64_t IndexMap::ToPhysicalWithInner(absl::Span<const int64_t> index) const {
  const size_t inner_count = static_cast<size_t>(to_physical_.inner_count);
  Values values(index.begin(), index.end());
  values.resize(index.size() + inner_count);
  for (size_t i = 0; i < inner_count; ++i) {
    const Sum& sum = to_physical_.sums[i];
    values[sum.target] = to_physical_.Evaluate(sum, values.data());
  }
  return static_cast<int64_t>(to_physical_.Evaluate(to_physical_.sums.back(), values.data()));
}

bool IndexMap::PhysicalToLogical(int64_t physical, absl::Span<int64_t> index) const {
  if (ABSL_PREDICT_FALSE(physical >= tiled_element_count_)) return false;  // tail padding
  if (ABSL_PREDICT_FALSE(to_logical_.inner_count != 0)) return ToLogicalWithInner(physical, index);
  const uint64_t value = static_cast<uint64_t>(physical);
  for (const Sum& sum : to_logical_.sums) {
    const uint64_t result = to_logical_.Evaluate(sum, &value);
    if (result >= sum.bound) return false;
    index[sum.target] = static_cast<int64_t>(result);
  }
  return true;
}

bool IndexMap::ToLogicalWithInner(int64_t physical, absl::Span<int64_t> index) const {
  const size_t inner_count = static_cast<size_t>(to_logical_.inner_count);
  Values values(inner_count + 1);
  values[0] = static_cast<uint64_t>(physical);
  for (size_t i = 0; i < to_logical_.sums.size(); ++i) {
    const Sum& sum = to_logical_.sums[i];
    const uint64_t result = to_logical_.Evaluate(sum, values.data());
    if (result >= sum.bound) return false;
    if (i < inner_count) {
      values[sum.target] = result;
    } else {
      index[sum.target] = static_cast<int64_t>(result);
    }
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

// -------------------------------------------------------------------------------------------------------------- showing

std::string IndexMap::Program::ToString(const Sum& sum, absl::Span<const std::string> names) const {
  std::string out;
  for (int32_t i = sum.begin; i < sum.end; ++i) {
    const Term& term = terms[i];
    unsigned __int128 divisor = uint64_t{1} << std::min<int>(term.shift, 63);
    if (i >= sum.magic_begin) {  // magic is a little more than 2^(63+shift) / divisor
      divisor = ((static_cast<unsigned __int128>(1) << (63 + term.shift)) + term.magic - 1) / term.magic;
    }
    const bool is_negative = static_cast<int64_t>(term.coefficient) < 0;
    const uint64_t factor = is_negative ? uint64_t{0} - term.coefficient : term.coefficient;
    absl::StrAppend(&out, is_negative ? (out.empty() ? "-" : " - ") : (out.empty() ? "" : " + "), names[term.source]);
    if (divisor != 1) absl::StrAppend(&out, "/", static_cast<uint64_t>(divisor));
    if (factor != 1) absl::StrAppend(&out, "*", factor);
  }
  return out.empty() ? "0" : out;
}

std::string IndexMap::ToString() const {
  std::string out = absl::StrCat("dimensions ", absl::StrJoin(dimensions_, ","), " -> ",
                                 absl::StrJoin(physical_dimensions_, ","), "\n");
  std::vector<std::string> forward, backward = {"p"};
  for (int i = 0; i < rank(); ++i) forward.push_back(absl::StrCat("i", i));
  for (int i = 0; i < to_physical_.inner_count; ++i) forward.push_back(absl::StrCat("v", i));
  for (int i = 0; i < to_logical_.inner_count; ++i) backward.push_back(absl::StrCat("u", i));
  for (const Sum& sum : to_physical_.sums) {
    const bool is_result = &sum == &to_physical_.sums.back();
    absl::StrAppend(&out, is_result ? "physical" : forward[sum.target], " = ", to_physical_.ToString(sum, forward), "\n");
  }
  for (size_t i = 0; i < to_logical_.sums.size(); ++i) {
    const Sum& sum = to_logical_.sums[i];
    const bool is_result = i >= static_cast<size_t>(to_logical_.inner_count);
    absl::StrAppend(&out, is_result ? forward[sum.target] : backward[sum.target], " = ",
                    to_logical_.ToString(sum, backward), ", padding unless < ", sum.bound, "\n");
  }
  return out;
}

}  // namespace kashi
