#include "kashi/array/tpu_tiling.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

constexpr int64_t kLanes = 128;
constexpr int64_t kSublanes = 8;

// In the order of the enum.
// clang-format off
constexpr TpuGenerationInfo kGenerations[] = {
    // generation            name     w  packs  table
    {TpuGeneration::kV2,    "v2",    2, false, 1024},
    {TpuGeneration::kV3,    "v3",    2, false, 1024},
    {TpuGeneration::kV4,    "v4",    1, true,  512},
    {TpuGeneration::kV5e,   "v5e",   1, true,  512},
    {TpuGeneration::kV5p,   "v5p",   1, true,  32},
    {TpuGeneration::kV6e,   "v6e",   1, true,  32},
    {TpuGeneration::kTpu7x, "tpu7x", 1, true,  32},
};
// clang-format on

// 2^61 and more stay as they are; the caller clamps anyway.
int64_t NextPowerOf2(int64_t value) { return value > (int64_t{1} << 61) ? value : int64_t{1} << Log2Ceiling(value); }

// The first tile: of the most minor dimension (rank 0 and 1), or of the two most minor ones.
Tile FirstTile(const Shape& array, const Layout& layout, int64_t packing, const TpuGenerationInfo& info) {
  const int64_t min_rows = std::min(packing * info.min_tile_words, kSublanes);
  const int rank = array.dimensions_size();
  if (rank == 0) return Tile({kLanes * min_rows});
  if (rank == 1) {
    return Tile({std::clamp(NextPowerOf2(array.dimensions(0)), kLanes * min_rows, kLanes * kSublanes)});
  }
  const int64_t second_minor = array.dimensions(layout.minor_to_major(1));
  const bool is_whole = second_minor % (kSublanes * packing) == 0;
  if (packing >= 4 && info.packs_4_bits && is_whole) return Tile({kSublanes * packing, kLanes});
  return Tile({std::clamp(NextPowerOf2(second_minor), min_rows, kSublanes), kLanes});
}

}  // namespace

absl::Span<const TpuGenerationInfo> TpuGenerations() { return kGenerations; }

const TpuGenerationInfo& GetTpuGenerationInfo(TpuGeneration generation) {
  return kGenerations[static_cast<int>(generation)];
}

std::optional<TpuGeneration> ParseTpuGeneration(absl::string_view name) {
  for (const TpuGenerationInfo& info : kGenerations) {
    if (info.name == name) return info.generation;
  }
  return std::nullopt;
}

absl::StatusOr<Layout> ChooseTpuLayout(const Shape& shape, TpuGeneration generation) {
  if (!shape.IsArray()) return InvalidArgumentStrCat("only an array has tiles: ", shape.ToString());
  const Shape& array = shape.IsBuffer() ? shape.buffer_shape() : shape;
  if (array.is_unbounded_dynamic()) {
    return InvalidArgumentStrCat("the tile of ", array.ToString(), " depends on an unknown size");
  }
  Layout layout = array.has_layout() ? array.layout() : LayoutUtil::GetDefaultLayoutForShape(array);
  layout.clear_tiles();
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(layout, array));
  const TpuGenerationInfo& info = GetTpuGenerationInfo(generation);
  const PrimitiveTypeInfo& type = GetPrimitiveTypeInfo(array.element_type());
  const bool is_packed = type.bits == 4 && info.packs_4_bits;
  layout.set_element_size_in_bits(is_packed ? 4 : 0);
  const absl::Span<const int64_t> sizes = array.dimensions();
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return layout;
  const int64_t bits = is_packed ? 4 : 8 * type.bytes;
  const int64_t packing = bits >= 32 ? 1 : 32 / bits;
  *layout.add_tiles() = FirstTile(array, layout, packing, info);
  if (packing > 1 && !sizes.empty()) {
    if (sizes.size() == 1) *layout.add_tiles() = Tile({kLanes});
    *layout.add_tiles() = Tile({packing, 1});
  }
  return layout;
}

absl::Status SetTpuLayouts(TpuGeneration generation, Shape* shape) {
  absl::Status status;
  std::vector<Shape*> rest = {shape};  // not recursive: tuples come from outside and may be deep
  while (!rest.empty()) {
    Shape& next = *rest.back();
    rest.pop_back();
    if (next.IsTuple()) {
      for (int i = next.tuple_shapes_size(); i-- > 0;) rest.push_back(next.mutable_tuple_shapes(i));
    } else if (next.IsArray() && !(next.has_layout() && next.layout().tiles_size() > 0)) {
      absl::StatusOr<Layout> layout = ChooseTpuLayout(next, generation);
      if (layout.ok()) {
        *next.mutable_layout() = *std::move(layout);
      } else {
        status.Update(layout.status());
      }
    }
  }
  return status;
}

int64_t TupleTableBytes(int64_t count, TpuGeneration generation) {
  return RoundUpTo(4 * count, GetTpuGenerationInfo(generation).tuple_table_alignment);
}

}  // namespace kashi
