// GetDeviceSize sums over leaves; ArraySizeOnDevice gives the size of one, after TpuShape has made the memory spaces'
// rules part of the layout.
#include "kashi/array/device_size.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <vector>

#include "kashi/array/index_map.h"
#include "kashi/array/layout.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

enum MemorySpace : int64_t {
  kHbm = Layout::kDefaultMemorySpace,
  kVmem = Layout::kGenericFastMemorySpace,
  kSyncFlags = 2,
  kVmemOfV4 = 3,
  kVectorOther = 4,
  kScalars = 6,
};

bool IsPaddedWithoutTile(const Shape& array) {
  switch (array.layout().memory_space()) {
    case kHbm:
      return array.dimensions_size() == 0 && primitive_util::BitWidth(array.element_type()) < 32;
    case kVmem:
    case kVmemOfV4:
    case kVectorOther:
    case kScalars:
      return true;
    default:
      return false;
  }
}

// The largest piece of each split dimension in its place. Pre: the layout is valid.
void KeepLargestPiece(Shape* array) {
  Layout* layout = array->mutable_layout();
  for (const SplitConfig& config : layout->split_configs()) {
    const int64_t dimension = LayoutUtil::Major(*layout, config.dimension());
    int64_t begin = 0, largest = 0;
    for (int64_t end : config.split_indices()) {
      largest = std::max(largest, end - begin);
      begin = end;
    }
    array->set_dimensions(static_cast<int>(dimension), std::max(largest, array->dimensions(dimension) - begin));
  }
  layout->clear_split_configs();
}

// The array as the TPU compiler sees it; nullopt if that is `array` itself.
std::optional<Shape> TpuShape(const Shape& array, const DeviceSizeOptions& options) {
  const Layout& layout = array.layout();
  const bool has_tiles = layout.tiles_size() > 0;
  const bool is_padded = !has_tiles && options.pad_untiled && IsPaddedWithoutTile(array);
  const bool is_bare = has_tiles && layout.memory_space() == kSyncFlags;
  if (!is_padded && !is_bare && layout.split_configs_size() == 0) return std::nullopt;
  Shape result = array;
  if (is_padded) *result.mutable_layout()->add_tiles() = Tile({8, 128});
  if (is_bare) result.mutable_layout()->clear_tiles();
  KeepLargestPiece(&result);
  return result;
}

DeviceSize SizeOfMap(const IndexMap& map) {
  const auto bytes_of = [&](int64_t elements) {  // Make has checked that the largest fits
    return *CheckedPackedBytes(elements, map.element_size_in_bits());
  };
  DeviceSize size;
  size.bytes = map.byte_size();
  size.unpadded_bytes = bytes_of(map.element_count());
  size.padding_bytes = size.bytes - size.unpadded_bytes;
  size.tile_padding_bytes = bytes_of(map.tiled_element_count()) - size.unpadded_bytes;
  size.tail_padding_bytes = bytes_of(map.padded_element_count()) - bytes_of(map.tiled_element_count());
  size.prefix_bytes = map.prefix_bytes();
  return size;
}

absl::StatusOr<DeviceSize> ArraySizeOnDevice(const Shape& array, const DeviceSizeOptions& options) {
  if (!array.has_layout()) return InvalidArgumentStrCat("shape ", array.ToString(), " does not have a layout");
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(array.layout(), array));
  const std::optional<Shape> tpu_shape = TpuShape(array, options);
  KASHI_ASSIGN_OR_RETURN(const IndexMap map, IndexMap::Make(tpu_shape ? *tpu_shape : array));
  return SizeOfMap(map);
}

absl::Status Add(const DeviceSize& part, DeviceSize* sum) {
  for (int64_t DeviceSize::*field :
       {&DeviceSize::bytes, &DeviceSize::unpadded_bytes, &DeviceSize::padding_bytes, &DeviceSize::tile_padding_bytes,
        &DeviceSize::tail_padding_bytes, &DeviceSize::prefix_bytes}) {
    const std::optional<int64_t> total = CheckedAdd(sum->*field, part.*field);
    if (!total) return InvalidArgument("the size of the tuple does not fit in 63 bits");
    sum->*field = *total;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceSize> GetDeviceSize(const Shape& shape, const IndexMap& map, const DeviceSizeOptions& options) {
  const Shape& array = shape.IsBuffer() ? shape.buffer_shape() : shape;
  const std::optional<Shape> tpu_shape = TpuShape(array, options);
  if (tpu_shape) return ArraySizeOnDevice(array, options);
  return SizeOfMap(map);
}

absl::StatusOr<DeviceSize> GetDeviceSize(const Shape& shape, const DeviceSizeOptions& options) {
  DeviceSize sum;
  std::vector<const Shape*> rest = {&shape};  // not recursive: tuples come from outside and may be deep
  while (!rest.empty()) {
    const Shape& next = *rest.back();
    rest.pop_back();
    if (next.IsTuple()) {
      for (const Shape& element : next.tuple_shapes()) rest.push_back(&element);
    } else if (next.IsArray()) {
      KASHI_ASSIGN_OR_RETURN(const DeviceSize size,
                             ArraySizeOnDevice(next.IsBuffer() ? next.buffer_shape() : next, options));
      KASHI_RETURN_IF_ERROR(Add(size, &sum));
    } else if (!next.IsToken() && !next.IsOpaque()) {
      return InvalidArgumentStrCat("a shape of invalid type has no size: ", next.ToString());
    }
  }
  return sum;
}

}  // namespace kashi
