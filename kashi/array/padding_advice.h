// Suggests layouts with less padding. The size of each suggestion is that of GetDeviceSize (device_size.h). Its tiles
// are those that a TPU compiler chooses for this order of dimensions (tpu_tiling.h).
//
//   f32[256,512,128,2]{3,2,1,0:T(8,128)}  8 GiB, 64 times the data: x = 2 is padded to 128
//     another order  f32[256,512,128,2]{2,3,1,0:T(2,128)}  128 MiB
#ifndef KASHI_ARRAY_PADDING_ADVICE_H_
#define KASHI_ARRAY_PADDING_ADVICE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/array/tpu_tiling.h"

namespace kashi {

struct PaddingAdvice {
  enum class Kind {
    kDimensionOrder,  // another minor_to_major, with the tiles that go with it
    kTile,            // the same order, other tiles
  };
  Kind kind;
  Shape shape;    // the same logical array
  int64_t bytes;  // on the device, fewer than those of the shape asked about
};

// Returns the cheapest of each kind, cheapest first; among equals the one whose order changes least. Empty if nothing
// costs less or the layout has no tiles. It tries every choice of the two (at rank 1: one) most minor dimensions, each
// with the tiles that `target` would choose. Without a target, it takes the generations that would have chosen the
// shape's own tiles; if none would, all of them, and the shape's own tiles as well. INVALID_ARGUMENT if the shape has
// no size on a device.
absl::StatusOr<std::vector<PaddingAdvice>> AdviseOnPadding(const Shape& shape,
                                                           std::optional<TpuGeneration> target = std::nullopt);

}  // namespace kashi

#endif  // KASHI_ARRAY_PADDING_ADVICE_H_
