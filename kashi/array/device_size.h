// The bytes of a value in the memory of a device: data, padding in tiles, padding at the tail, prefix.
//
//   f32[3,5]{1,0:T(2,2)}      60 unpadded, 96 on the device: 36 in tiles
//   s32[5]{0:T(4)L(16)}       20 unpadded, 64 on the device: 12 in tiles, 32 at the tail
//   s4[9]{0:E(4)M(64)}         5 unpadded, 69 on the device: 64 before the array
//
// The size of an array is the number of positions in its layout (IndexMap::padded_element_count) times the bits of an
// element, rounded up to whole bytes. The bits are E if given, else 8 times the bytes of the type (an s4 without E(4)
// takes a byte). The TPU compiler does the same, except where the memory space matters. With the rules below this gives
// every measured size of tests/data/tpu_shapes.tsv (6,058 sizes on seven TPU generations, as the TPU compiler reports
// them):
//
//   without a tile: a scalar of less than 32 bits in S(0), or any array in
//   S(1), S(3), S(4), S(6)                                                     padded as if it had T(8,128)
//   S(2), the synchronisation flags                                            not padded, even with a tile
//   a layout with split configs, SC(..)                                        the part of one core: the largest piece
//
// The first rule is for TPU programs (there a bf16[] takes 2048 bytes); `pad_untiled` turns it off for other devices.
// Only the first tile pads in those layouts. If a later tile pads too, as in f32[4,6]{1,0:T(3)(2)}, the size here
// includes all positions (128 bytes); XLA's ShapeUtil::ArraySize only counts the padding of the first tile (96).
#ifndef KASHI_ARRAY_DEVICE_SIZE_H_
#define KASHI_ARRAY_DEVICE_SIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kashi/array/index_map.h"
#include "kashi/array/shape.h"

namespace kashi {

struct DeviceSizeOptions {
  bool pad_untiled = true;
};

// Inv: bytes == unpadded_bytes + padding_bytes; padding_bytes == tile_padding_bytes + tail_padding_bytes +
// prefix_bytes.
struct DeviceSize {
  int64_t bytes = 0;
  int64_t unpadded_bytes = 0;  // of the elements, E included; ShapeUtil::ByteSizeOfElements
  int64_t padding_bytes = 0;
  int64_t tile_padding_bytes = 0;
  int64_t tail_padding_bytes = 0;  // L
  int64_t prefix_bytes = 0;        // M
};

// The size of an array with a layout or of a buffer; for a tuple the sum over its leaves, without a table of pointers
// (tpu_tiling.h has that). A token takes nothing, nor does an opaque value: it stands for something outside of the
// arrays' memory. A bounded dimension counts with its bound. INVALID_ARGUMENT for an unbounded one, for a missing or
// invalid layout, for a shape of invalid type, and for sizes beyond 2^63 - 1 bytes.
absl::StatusOr<DeviceSize> GetDeviceSize(const Shape& shape, const DeviceSizeOptions& options = {});
// The size of an array (or a buffer) whose index map is already known.
absl::StatusOr<DeviceSize> GetDeviceSize(const Shape& array, const IndexMap& map,
                                         const DeviceSizeOptions& options = {});

}  // namespace kashi

#endif  // KASHI_ARRAY_DEVICE_SIZE_H_
