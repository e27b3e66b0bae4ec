// The axes of the meshes in a program, in terms of its DeviceAxes.
//
//   mesh["x"=4, "y"=2] on axes of sizes [2,2,2]        x: {0,1}   y: {2}
//
// Propagation cuts along any axis of the devices, so a part of "x" may cut a dimension: f32[8] in 4 parts, reshaped to
// f32[2,4], is cut in 2 along {0}. Nobody outside of the program can say that in terms of the mesh.
#ifndef KASHI_PARTITION_MESH_AXES_H_
#define KASHI_PARTITION_MESH_AXES_H_

#include <vector>

#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/partition/device_axes.h"

namespace kashi::partition {

// One tile for each device, with a dimension for each axis, of each of Shardy's meshes that has all devices.
std::vector<HloSharding> MeshesOf(const HloModule& module, int64_t devices);

class MeshAxes {
 public:
  // If there are no meshes, the tiles of these shardings take their place.
  MeshAxes(const DeviceAxes& axes, absl::Span<const HloSharding> meshes, absl::Span<const HloSharding> shardings);

  // What is left of a sharding if each dimension may only be cut along axes of one mesh, as wholes, and evenly.
  AxisSharding WholeAxesOf(const AxisSharding& sharding, const Shape& shape) const;

 private:
  AxisSharding WholeAxesOf(const AxisSharding& sharding, const Shape& shape, const std::vector<AxisList>& mesh) const;

  const DeviceAxes& axes_;
  std::vector<std::vector<AxisList>> meshes_;  // [mesh][axis]
};

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_MESH_AXES_H_
