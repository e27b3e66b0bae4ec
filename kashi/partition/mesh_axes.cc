#include "kashi/partition/mesh_axes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "kashi/base/math.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/spmd/sdy_sharding.h"

namespace kashi::partition {

std::vector<HloSharding> MeshesOf(const HloModule& module, int64_t devices) {
  std::vector<HloSharding> found;
  const absl::StatusOr<hlo::SdyMeshes> meshes = hlo::SdyMeshesOf(module);
  if (!meshes.ok()) return found;
  for (const auto& [name, mesh] : *meshes) {
    if (mesh.num_axes() == 0 || SaturatingProduct(mesh.axis_sizes()) != devices) continue;
    found.push_back(HloSharding::Tile(mesh.device_assignment()));
  }
  return found;
}

MeshAxes::MeshAxes(const DeviceAxes& axes, absl::Span<const HloSharding> meshes,
                   absl::Span<const HloSharding> shardings)
    : axes_(axes) {
  for (const HloSharding& mesh : meshes.empty() ? shardings : meshes) {
    if (mesh.IsTuple() || !mesh.IsTiled() || mesh.tile_assignment().num_elements() != axes.devices()) continue;
    const HloSharding tiles = HloSharding::Tile(mesh.tile_assignment());
    std::optional<AxisSharding> found = axes.FromSharding(tiles, tiles.tile_assignment().num_dimensions());
    if (!found.has_value()) continue;
    found->erase(std::remove(found->begin(), found->end(), AxisList()), found->end());
    meshes_.push_back(*std::move(found));
  }
}

AxisSharding MeshAxes::WholeAxesOf(const AxisSharding& sharding, const Shape& shape,
                                   const std::vector<AxisList>& mesh) const {
  AxisSharding kept(sharding.size());
  for (size_t i = 0; i < sharding.size(); ++i) {
    AxisList rest = sharding[i];
    while (!rest.empty()) {
      const auto axis = absl::c_find_if(mesh, [&rest](const AxisList& list) { return IsPrefix(list, rest); });
      if (axis == mesh.end()) break;
      const AxisList longer = Joined(kept[i], *axis);
      if (shape.dimensions(static_cast<int>(i)) % axes_.SizeOf(longer) != 0) break;
      kept[i] = longer;
      rest = WithoutFirst(rest, axis->size());
    }
  }
  return kept;
}

// Of several meshes, the one that leaves the most parts.
AxisSharding MeshAxes::WholeAxesOf(const AxisSharding& sharding, const Shape& shape) const {
  AxisSharding best(sharding.size());
  int64_t most = 0;
  for (const std::vector<AxisList>& mesh : meshes_) {
    AxisSharding kept = WholeAxesOf(sharding, shape, mesh);
    int64_t parts = 1;
    for (const AxisList& axes : kept) parts *= axes_.SizeOf(axes);
    if (parts > most) best = std::move(kept);
    most = std::max(most, parts);
  }
  return best;
}

}  // namespace kashi::partition
