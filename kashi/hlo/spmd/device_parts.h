// The parts of an array on its devices: which devices hold which part.
//
//   f32[5,4] under {devices=[2,1,2]<=[4] last_tile_dim_replicate}
//
//     part [0,0] of size [3,4]    devices 0, 1
//     part [3,0] of size [2,4]    devices 2, 3: a row of padding follows
#ifndef KASHI_HLO_SPMD_DEVICE_PARTS_H_
#define KASHI_HLO_SPMD_DEVICE_PARTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/hlo/attributes/hlo_sharding.h"

namespace kashi::hlo {

struct DevicePart {
  DimensionVector offsets;       // of its first element in the array
  DimensionVector sizes;         // of its elements; 0 where it has only padding
  std::vector<int64_t> devices;  // ascending
};

struct DeviceParts {
  DimensionVector tiles;             // how many parts along each dimension
  DimensionVector shard_dimensions;  // of each device's array, padding included
  std::vector<DevicePart> parts;     // in row-major order of their tiles
  int64_t num_devices = 0;
  // Devices that hold one part: copies of it, sums that are not added yet, or arrays of their own.
  int64_t replicated = 1, unreduced = 1, manual = 1;
};

// The parts under a sharding that is no tuple. `num_devices`: for shardings that do not say it ({replicated},
// {manual}, {unreduced}); otherwise 0, or the number of devices that there are. INVALID_ARGUMENT if the sharding does
// not fit the rank or the devices, or is {unknown}, or has more than 2^20 devices. O(devices * rank).
absl::StatusOr<DeviceParts> PartsOf(const HloSharding& sharding, absl::Span<const int64_t> dimensions,
                                    int64_t num_devices);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_DEVICE_PARTS_H_
