#include "kashi/draw/shape_explanation.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "kashi/array/device_size.h"
#include "kashi/array/dimension_names.h"
#include "kashi/array/index_map.h"
#include "kashi/array/padding_advice.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/text.h"

namespace kashi {

using array::DimensionName;
using base::Count;
using base::HumanBytes;
using base::WithThousands;
namespace {

constexpr int kMaxShownLeaves = 40;
// Longer lists of tiles or dimensions than any compiler writes are counted, not told.
constexpr size_t kMaxExplainedTiles = 16;
constexpr size_t kMaxExplainedRank = 64;
// Above this part of padding, cheaper layouts are looked for.
constexpr double kPaddingWorthAdvice = 0.25;

// The name of a dimension that only a tile has: its size before that was 1.
constexpr absl::string_view kNoName = "1";

// A physical dimension on its way through the tiles: "y", then "y/8" (which tile) and "y%8" (where in it).
struct ExplainedAxis {
  std::string name;
  int64_t size;
};

// "  type        text": one line, or several when the text has newlines.
class Sections {
 public:
  void Add(absl::string_view title, absl::string_view text) {
    for (absl::string_view line : absl::StrSplit(text, '\n')) {
      absl::StrAppendFormat(&out_, "  %-10s  %s\n", title, line);
      title = "";
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string BytesText(int64_t bytes) {
  return bytes < 1024 ? HumanBytes(bytes) : absl::StrCat(WithThousands(bytes), " bytes (", HumanBytes(bytes), ")");
}

std::string TypeText(const Shape& shape) {
  const PrimitiveType type = shape.element_type();
  const PrimitiveTypeInfo& info = GetPrimitiveTypeInfo(type);
  const std::string& name = primitive_util::LowercasePrimitiveTypeName(type);
  const int bits = primitive_util::BitWidth(type);
  std::string kind;
  switch (info.type_class) {
    case PrimitiveClass::kPred:
      kind = "truth value";
      break;
    case PrimitiveClass::kSigned:
      kind = absl::StrCat(bits, "-bit signed integer");
      break;
    case PrimitiveClass::kUnsigned:
      kind = absl::StrCat(bits, "-bit unsigned integer");
      break;
    case PrimitiveClass::kFloat:
      kind = absl::StrFormat("%d-bit float: %d sign, %d exponent, %d mantissa bits", bits, info.format.sign_bits,
                             info.format.exponent_bits, info.format.mantissa_bits);
      break;
    case PrimitiveClass::kComplex:
      kind = absl::StrCat("complex: two ", bits / 2, "-bit floats");
      break;
    case PrimitiveClass::kInvalid:
    case PrimitiveClass::kNonArray:
      kind = "not an array type";
      break;
  }
  const int64_t stored = primitive_util::ByteWidth(type);
  std::string width = absl::StrCat(Count(stored, "byte"), " per element");
  if (shape.has_layout() && shape.layout().element_size_in_bits() > 0) {
    const int64_t element_size = shape.layout().element_size_in_bits();
    width = absl::StrCat(Count(element_size, "bit"), " per element: E(", element_size, ")");
  }
  return absl::StrCat(name, ", ", kind, "; ", width);
}

std::string DimensionSizeText(const Shape& shape, int i) {
  if (shape.is_unbounded_dynamic_dimension(i)) return "?";
  return absl::StrCat(shape.is_dynamic_dimension(i) ? "<=" : "", shape.dimensions(i));
}

std::string DimensionsText(const Shape& shape) {
  const int rank = shape.dimensions_size();
  if (rank == 0) return "none: a scalar";
  std::vector<std::string> parts;
  for (int i = 0; i < rank; ++i) {
    parts.push_back(absl::StrCat(DimensionName(rank, i), " = ", DimensionSizeText(shape, i)));
  }
  std::string text = absl::StrJoin(parts, ", ");
  const int64_t true_rank = ShapeUtil::TrueNumDimensions(shape);
  if (true_rank != rank) absl::StrAppend(&text, "; rank ", rank, ", true rank ", true_rank, " (sizes other than 1)");
  if (shape.is_bounded_dynamic()) absl::StrAppend(&text, "\n<= is a bound: the size is known at run time");
  if (shape.is_unbounded_dynamic()) absl::StrAppend(&text, "\n? is a size that is known only at run time");
  return text;
}

std::string OrderText(const Shape& shape) {
  const Layout& layout = shape.layout();
  const int rank = shape.dimensions_size();
  std::vector<std::string> names;
  for (int64_t dimension : layout.minor_to_major()) {
    names.push_back(DimensionName(rank, static_cast<int>(dimension)));
  }
  std::string text = absl::StrCat("{", absl::StrJoin(layout.minor_to_major(), ","), "}");
  if (rank < 2) return text;
  absl::StrAppend(&text, " from minor to major: ", absl::StrJoin(names, ", "));
  if (LayoutUtil::IsMonotonicWithDim0Major(layout)) return absl::StrCat(text, " (row major)");
  if (LayoutUtil::IsMonotonicWithDim0Minor(layout)) return absl::StrCat(text, " (column major)");
  return text;
}

// ---- tiles

// Merges each run of `*` of the tile, and the entry behind it, into one axis; afterwards every entry has its own axis
// at the end of `axes`. Returns the entries that are left.
DimensionVector MergeCombined(const Tile& tile, std::vector<ExplainedAxis>* axes) {
  while (axes->size() < tile.dimensions().size()) axes->insert(axes->begin(), ExplainedAxis{std::string(kNoName), 1});
  std::vector<ExplainedAxis> merged(axes->begin(), axes->end() - tile.dimensions().size());
  DimensionVector entries;
  ExplainedAxis open{"", 1};
  for (size_t i = 0; i < tile.dimensions().size(); ++i) {
    const ExplainedAxis& axis = (*axes)[axes->size() - tile.dimensions().size() + i];
    open = {open.name.empty() ? axis.name : absl::StrCat(open.name, "*", axis.name), open.size * axis.size};
    if (tile.dimension(static_cast<int>(i)) == Tile::kCombineDimension) continue;
    if (absl::StrContains(open.name, "*")) open.name = absl::StrCat("(", open.name, ")");
    merged.push_back(std::exchange(open, ExplainedAxis{"", 1}));
    entries.push_back(tile.dimension(static_cast<int>(i)));
  }
  *axes = std::move(merged);
  return entries;
}

// "y: 1000 -> 125 x 8"; a dimension that a tile of 1 does not change is left out.
std::string SplitText(const ExplainedAxis& axis, int64_t entry) {
  const int64_t tiles = CeilOfRatio(axis.size, entry);
  std::string text = absl::StrCat(axis.name, " ", axis.size, " -> ", tiles, " x ", entry);
  // Not tiles * entry - size: for a dimension of size 0 that product could be anything.
  if (axis.size % entry != 0) absl::StrAppend(&text, " (", entry - axis.size % entry, " of padding)");
  return text;
}

// Applies one tile to the axes and returns a text about its effect on each.
std::string ApplyTile(const Tile& tile, std::vector<ExplainedAxis>* axes) {
  const DimensionVector entries = MergeCombined(tile, axes);
  const size_t head = axes->size() - entries.size();
  std::vector<ExplainedAxis> next(axes->begin(), axes->begin() + head), inner;
  std::vector<std::string> texts;
  for (size_t i = 0; i < entries.size(); ++i) {
    const ExplainedAxis& axis = (*axes)[head + i];
    if (entries[i] != 1) texts.push_back(SplitText(axis, entries[i]));
    const bool is_split = entries[i] != 1;
    next.push_back(
        {is_split ? absl::StrCat(axis.name, "/", entries[i]) : axis.name, CeilOfRatio(axis.size, entries[i])});
    inner.push_back({is_split ? absl::StrCat(axis.name, "%", entries[i]) : std::string(kNoName), entries[i]});
  }
  next.insert(next.end(), inner.begin(), inner.end());
  *axes = std::move(next);
  return texts.empty() ? "changes nothing" : absl::StrJoin(texts, ",  ");
}

// The layouts of TPU memory put the rows that share a 32-bit word side by side.
std::string PackingText(const Shape& shape, const Tile& tile, absl::Span<const ExplainedAxis> axes) {
  const int bits = primitive_util::BitWidth(shape.element_type());
  if (bits > 32 || tile.dimensions().size() != 2 || tile.dimension(1) != 1 || tile.dimension(0) != 32 / bits) return "";
  if (axes.size() < 2 || axes[axes.size() - 2].size < tile.dimension(0)) return "";
  return absl::StrCat(": packs ", tile.dimension(0), " rows into each 32-bit word");
}

bool IsExplainable(const Shape& shape) {
  const auto is_long = [](const Tile& tile) { return tile.dimensions().size() > kMaxExplainedRank; };
  const absl::Span<const Tile> tiles = shape.layout().tiles();
  return tiles.size() <= kMaxExplainedTiles && shape.dimensions().size() <= kMaxExplainedRank &&
         std::none_of(tiles.begin(), tiles.end(), is_long);
}

void AddTiles(const Shape& shape, Sections* sections) {
  const Layout& layout = shape.layout();
  if (!IsExplainable(shape)) {
    sections->Add("tiles", absl::StrCat(Count(layout.tiles_size(), "level"), " over ",
                                        Count(shape.dimensions_size(), "dimension")));
    return;
  }
  std::vector<ExplainedAxis> axes;
  for (int p = 0; p < shape.dimensions_size(); ++p) {
    const int dimension = static_cast<int>(LayoutUtil::Major(layout, p));
    axes.push_back({DimensionName(shape.dimensions_size(), dimension), shape.dimensions(dimension)});
  }
  int width = 0;
  for (const Tile& tile : layout.tiles()) width = std::max(width, static_cast<int>(tile.ToString().size()));
  for (int i = 0; i < layout.tiles_size(); ++i) {
    const Tile& tile = layout.tiles(i);
    const std::string packing = i > 0 ? PackingText(shape, tile, axes) : "";
    sections->Add(i == 0 ? "tiles" : "", absl::StrFormat("%c%-*s  %s%s", i == 0 ? 'T' : ' ', width, tile.ToString(),
                                                         ApplyTile(tile, &axes), packing));
  }
  std::vector<std::string> names;
  for (const ExplainedAxis& axis : axes) {
    names.push_back(axis.name == kNoName ? absl::StrCat(axis.size) : absl::StrCat(axis.name, "=", axis.size));
  }
  sections->Add("physical", absl::StrCat("[", absl::StrJoin(names, ", "), "]  most major first"));
}

// ---- the other fields of a layout

std::string MemorySpaceText(int64_t space) {
  std::string text = absl::StrCat("S(", space, ")");
  if (space == Layout::kDefaultMemorySpace) return absl::StrCat(text, ": the default, HBM on a TPU");
  if (space == Layout::kGenericFastMemorySpace) return absl::StrCat(text, ": on-chip, VMEM on a TPU");
  if (space == Layout::kHostMemorySpace) return absl::StrCat(text, ": memory of the host");
  return absl::StrCat(text, ": the backend defines it");
}

void AddOtherFields(const Layout& layout, Sections* sections) {
  if (layout.memory_space() != 0) sections->Add("memory", MemorySpaceText(layout.memory_space()));
  if (layout.tail_padding_alignment_in_elements() != 1) {
    const int64_t alignment = layout.tail_padding_alignment_in_elements();
    sections->Add("tail",
                  absl::StrCat("L(", alignment, "): the element count is rounded up to a multiple of ", alignment));
  }
  for (const SplitConfig& split : layout.split_configs()) {
    sections->Add("split",
                  absl::StrCat("SC", split.ToString(), ": physical dimension ", split.dimension(),
                               " (0 is the most major) is split before ", absl::StrJoin(split.split_indices(), ", "),
                               ", across memories; the bytes below are for the largest piece"));
  }
  if (layout.dynamic_shape_metadata_prefix_bytes() > 0) {
    const int64_t bytes = layout.dynamic_shape_metadata_prefix_bytes();
    sections->Add("prefix",
                  absl::StrCat("M(", bytes, "): ", Count(bytes, "byte"), " before the array hold the run-time sizes"));
  }
}

// ---- bytes

std::string PaddingText(const DeviceSize& size) {
  if (size.padding_bytes == 0) return "none";
  return absl::StrFormat(
      "%s, %.1f %% of the buffer%s", BytesText(size.padding_bytes),
      100.0 * static_cast<double>(size.padding_bytes) / static_cast<double>(size.bytes),
      size.prefix_bytes > 0 ? absl::StrCat("; ", Count(size.prefix_bytes, "byte"), " of it before the array") : "");
}

std::string AdviceText(const PaddingAdvice& advice, int64_t present_bytes) {
  const char* what = advice.kind == PaddingAdvice::Kind::kDimensionOrder ? "another order" : "another tile ";
  const double saved = static_cast<double>(present_bytes) / static_cast<double>(std::max<int64_t>(advice.bytes, 1));
  return absl::StrFormat("%s  %s  %s, %.3g times less", what, advice.shape.ToString(/*print_layout=*/true),
                         HumanBytes(advice.bytes), saved);
}

void AddBytes(const Shape& shape, std::optional<TpuGeneration> target, Sections* sections) {
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(shape);
  if (!size.ok()) {
    sections->Add("bytes", absl::StrCat("no size: ", size.status().message()));
    return;
  }
  sections->Add("elements", absl::StrCat(WithThousands(ShapeUtil::ElementsIn(shape)), ", ",
                                         BytesText(size->unpadded_bytes), " without padding",
                                         shape.layout().split_configs().empty() ? "" : " in the largest piece"));
  sections->Add("padding", PaddingText(*size));
  std::string expansion;
  if (size->unpadded_bytes > 0 && size->bytes != size->unpadded_bytes) {
    expansion = absl::StrFormat(", %.4gx expansion",
                                static_cast<double>(size->bytes) / static_cast<double>(size->unpadded_bytes));
  }
  sections->Add("on device", absl::StrCat(BytesText(size->bytes), expansion));
  if (static_cast<double>(size->padding_bytes) <= kPaddingWorthAdvice * static_cast<double>(size->bytes)) return;
  const absl::StatusOr<std::vector<PaddingAdvice>> advice = AdviseOnPadding(shape, target);
  if (!advice.ok()) return;
  const char* title = "cheaper";
  for (const PaddingAdvice& proposal : *advice) {
    sections->Add(std::exchange(title, ""), AdviceText(proposal, size->bytes));
  }
}

std::string ExplainArray(const Shape& shape, std::optional<TpuGeneration> target) {
  Sections sections;
  sections.Add("type", TypeText(shape));
  sections.Add("dimensions", DimensionsText(shape));
  if (!shape.has_layout()) {
    sections.Add("layout", "none");
    return sections.Take();
  }
  const absl::Status valid = LayoutUtil::ValidateLayoutForShape(shape.layout(), shape);
  if (!valid.ok()) {
    sections.Add("layout", absl::StrCat("invalid: ", valid.message()));
    return sections.Take();
  }
  sections.Add("layout", OrderText(shape));
  const absl::StatusOr<IndexMap> map = IndexMap::Make(shape);
  if (!map.ok()) {
    sections.Add("physical", absl::StrCat("no positions in memory: ", map.status().message()));
    return sections.Take();
  }
  if (!shape.layout().tiles().empty()) AddTiles(shape, &sections);
  AddOtherFields(shape.layout(), &sections);
  AddBytes(shape, target, &sections);
  return sections.Take();
}

// One leaf of a tuple, in columns.
struct LeafRow {
  std::string index, shape, bytes;
};

LeafRow ExplainLeaf(const IndexedShape& leaf) {
  LeafRow row{leaf.index.ToString(), leaf.shape.ToString(/*print_layout=*/true), "no size"};
  const absl::StatusOr<DeviceSize> size = GetDeviceSize(leaf.shape);
  if (!size.ok()) return row;
  row.bytes = HumanBytes(size->bytes);
  if (size->padding_bytes > 0) absl::StrAppend(&row.bytes, ", ", HumanBytes(size->padding_bytes), " of it padding");
  return row;
}

std::string ExplainTuple(const Shape& shape) {
  constexpr size_t kMaxColumn = 80;
  const std::vector<IndexedShape> leaves = ShapeUtil::GetLeafShapes(shape);
  std::string out =
      absl::StrFormat("  a tuple of %d element%s, %d lea%s\n", shape.tuple_shapes_size(),
                      shape.tuple_shapes_size() == 1 ? "" : "s", leaves.size(), leaves.size() == 1 ? "f" : "ves");
  std::vector<LeafRow> rows;
  size_t index_width = 0, shape_width = 0;
  for (size_t i = 0; i < std::min<size_t>(leaves.size(), kMaxShownLeaves); ++i) {
    const LeafRow& row = rows.emplace_back(ExplainLeaf(leaves[i]));
    index_width = std::max(index_width, std::min(row.index.size(), kMaxColumn));
    shape_width = std::max(shape_width, std::min(row.shape.size(), kMaxColumn));
  }
  for (const LeafRow& row : rows) {
    absl::StrAppendFormat(&out, "    %-*s  %-*s  %s\n", static_cast<int>(index_width), row.index,
                          static_cast<int>(shape_width), row.shape, row.bytes);
  }
  if (leaves.size() > rows.size()) absl::StrAppend(&out, "    ... and ", leaves.size() - rows.size(), " more\n");
  const absl::StatusOr<DeviceSize> total = GetDeviceSize(shape);
  absl::StrAppend(&out, "  all leaves  ", total.ok() ? BytesText(total->bytes) : std::string(total.status().message()),
                  ", without the table of pointers\n");
  return out;
}

}  // namespace

std::string ExplainShape(const Shape& shape, std::optional<TpuGeneration> target) {
  const std::string title = absl::StrCat(shape.ToString(/*print_layout=*/true), "\n");
  if (shape.IsTuple()) return absl::StrCat(title, ExplainTuple(shape));
  if (shape.IsToken()) return absl::StrCat(title, "  a token: it orders side effects and takes no memory\n");
  if (shape.IsOpaque()) return absl::StrCat(title, "  an opaque value: only the backend knows its contents\n");
  if (shape.IsBuffer()) {
    return absl::StrCat(title, "  a buffer: a reference to this array:\n", ExplainArray(shape.buffer_shape(), target));
  }
  return absl::StrCat(title, ExplainArray(shape, target));
}

}  // namespace kashi
