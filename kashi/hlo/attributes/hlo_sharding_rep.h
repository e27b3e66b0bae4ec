// Internal to HloSharding: the data of a sharding.
#ifndef KASHI_HLO_ATTRIBUTES_HLO_SHARDING_REP_H_
#define KASHI_HLO_ATTRIBUTES_HLO_SHARDING_REP_H_

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/attributes/tile_assignment.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {
namespace hlo {

// The largest number of devices that a text or a proto can make a program list.
inline constexpr int64_t kMaxListedDevices = int64_t{1} << 20;

}  // namespace hlo

struct HloSharding::Rep {
  Rep() = default;
  explicit Rep(Kind kind) : kind(kind) {}
  Rep(const Rep& other)  // except for data that is computed on demand
      : kind(other.kind),
        replicate_on_last_tile_dim(other.replicate_on_last_tile_dim),
        tile(other.tile),
        subgroup_types(other.subgroup_types),
        metadata(other.metadata),
        tuple_elements(other.tuple_elements),
        named(other.named),
        shard_group(other.shard_group) {}

  Kind kind = Kind::kReplicated;
  bool replicate_on_last_tile_dim = false;
  TileAssignment tile;
  std::vector<OpSharding::Type> subgroup_types;
  std::vector<OpMetadata> metadata;  // of a named sharding: within `named`
  std::vector<HloSharding> tuple_elements;
  std::optional<NamedSharding> named;
  ShardGroup shard_group = NotShardGroup();

  mutable std::once_flag unnamed_once;
  mutable std::optional<absl::StatusOr<HloSharding>> unnamed;
};

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_HLO_SHARDING_REP_H_
