// Cheaper layouts for an array whose padding costs much. Every proposal has been measured: its bytes are those that
// GetDeviceSize (device_size.h) gives for the shape that is proposed.
//
//   f32[256,512,128,2]{3,2,1,0:T(8,128)}  8 GiB, 64 times the data: x = 2 is padded to 128
//     order  f32[256,512,128,2]{2,3,1,0:T(8,128)}  512 MiB   (y and x swapped: x is padded to 8)
//     order  f32[256,512,128,2]{2,1,3,0:T(8,128)}  128 MiB
#ifndef KASHI_ARRAY_PADDING_ADVICE_H_
#define KASHI_ARRAY_PADDING_ADVICE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"

namespace kashi {

struct PaddingAdvice {
  enum class Kind {
    kDimensionOrder,  // same tiles, another minor_to_major
    kTile,            // same order, another first tile
    kBoth,
  };
  Kind kind;
  Shape shape;    // the same logical array
  int64_t bytes;  // on the device, fewer than those of the shape asked about
};

// The cheapest of each kind, cheapest first; among equals the one that changes least. Empty if nothing costs less or the
// layout has no tiles. Looks at every choice of the dimensions that the first tile covers, and at first tiles of 1 to 64
// rows (rank 1 tiles: powers of two from 128); the number of layouts tried is bounded. INVALID_ARGUMENT if the shape has no
// size on a device.
absl::StatusOr<std::vector<PaddingAdvice>> AdviseOnPadding(const Shape& shape);

}  // namespace kashi

#endif  // KASHI_ARRAY_PADDING_ADVICE_H_
