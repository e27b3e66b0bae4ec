// Operations over several devices: groups, pairs, channels. (docs/spec/hlo-ops.md, 7)
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

// ---- Groups ---------------------------------------------------------------------------------------------------------

// The meaning of the ids in replica_groups.
//
//   channel  use_global_device_ids   ids
//   no       no                      replicas, of one partition            cross_replica
//   yes      (no such attribute)     partitions, of one replica            cross_partition
//   yes      no                      replicas, with all their partitions   cross_replica_and_partition
//   yes      yes                     replica * partitions + partition      flattened_id
struct GroupMode {
  const char* name;
  bool has_replicas;
  bool has_partitions;  // among the ids
};
constexpr GroupMode kCrossReplica = {"cross_replica", true, false};
constexpr GroupMode kCrossPartition = {"cross_partition", false, true};
constexpr GroupMode kCrossReplicaAndPartition = {"cross_replica_and_partition", true, false};
constexpr GroupMode kFlattenedId = {"flattened_id", true, true};

absl::StatusOr<const GroupMode*> ModeOf(const HloInstruction& x) {
  const bool has_channel = x.fields().Has(HloField::channel_id);
  if (!has_channel && x.use_global_device_ids()) {
    return InvalidArgument("Cannot have use_global_device_ids=true without channel_id");
  }
  if (!has_channel) return &kCrossReplica;
  const bool can_be_global = absl::c_any_of(
      GetHloOpcodeInfo(x.opcode()).attributes,
      [](const HloOpcodeAttribute& entry) { return entry.attribute == HloAttribute::use_global_device_ids; });
  if (!can_be_global) return &kCrossPartition;
  return x.use_global_device_ids() ? &kFlattenedId : &kCrossReplicaAndPartition;
}

// nullopt where the product does not fit.
std::optional<int64_t> IdCount(const GroupMode& mode, const HloModuleConfig& config) {
  return CheckedMultiply(mode.has_replicas ? config.replica_count() : 1,
                         mode.has_partitions ? config.num_partitions() : 1);
}

const CollectiveDeviceList& DevicesOf(const HloInstruction& x) {
  static const CollectiveDeviceList* const none = new CollectiveDeviceList;
  const CollectiveDeviceList* devices = x.fields().Find<HloField::replica_groups>();
  return devices != nullptr ? *devices : *none;
}

absl::Status CheckIdCount(int64_t count, const GroupMode& mode, const HloModuleConfig& config) {
  const std::optional<int64_t> expected = IdCount(mode, config);
  if (expected == 1 || expected == count) return absl::OkStatus();
  const char* const ids = !mode.has_partitions ? "replicas" : mode.has_replicas ? "flattened IDs" : "partitions";
  return Internal("In %s mode, replica groups should contain %d %s, but found %d", mode.name, expected.value_or(-1),
                  ids, count);
}

// Checks that each of 0 .. n-1 is in exactly one group.
absl::Status CheckListedGroups(const HloInstruction& x, const GroupMode& mode, const HloModuleConfig& config) {
  const std::vector<ReplicaGroup>& groups = DevicesOf(x).replica_groups();
  int64_t count = 0;
  for (const ReplicaGroup& group : groups) {
    if (group.replica_ids_size() == 0) return Internal("Instruction cannot have an empty replica group");
    count += group.replica_ids_size();
  }
  absl::flat_hash_set<int64_t> seen;
  for (const ReplicaGroup& group : groups) {
    for (const int64_t id : group.replica_ids()) {
      if (id < 0 || id >= count) {
        return Internal("Replica %d is out of range (should be in [0, %d) range) in instruction's replica-groups", id,
                        count);
      }
      if (!seen.insert(id).second) return Internal("Replica %d is repeated in instruction's replica-groups", id);
    }
  }
  KASHI_RETURN_IF_ERROR(CheckIdCount(count, mode, config));
  const bool may_differ = x.opcode() == HloOpcode::kAllReduce || x.opcode() == HloOpcode::kAllReduceStart ||
                          x.opcode() == HloOpcode::kCollectiveReduce;
  const auto is_other_size = [&](const ReplicaGroup& group) {
    return group.replica_ids_size() != groups[0].replica_ids_size();
  };
  if (may_differ || absl::c_none_of(groups, is_other_size)) return absl::OkStatus();
  return Internal("Replica groups expected to be of uniform size");
}

absl::Status CheckGroups(const HloInstruction& x, const Verification& v) {
  KASHI_ASSIGN_OR_RETURN(const GroupMode* mode, ModeOf(x));
  if (!v.opts().check_replica_groups) return absl::OkStatus();
  const CollectiveDeviceList& devices = DevicesOf(x);
  if (devices.num_replica_groups() == 0) {
    return mode == &kFlattenedId ? Internal("Replica groups must be specified in flattened-id mode") : absl::OkStatus();
  }
  const auto& iota = devices.iota_replica_group_list();
  const bool is_list = !iota.has_value() && !devices.mesh_axes_replica_group_list().has_value();
  if (is_list) return CheckListedGroups(x, *mode, v.module().config());
  // The other forms have each device once; their number is known without making lists.
  if (iota.has_value() && !iota->tile_assignment().IsConsistent()) {
    return Internal("Replica groups %s leave devices out, or have some twice", iota->ToString());
  }
  const std::optional<int64_t> count = CheckedMultiply(devices.num_replica_groups(), devices.num_devices_per_group());
  return CheckIdCount(count.value_or(-1), *mode, v.module().config());
}

// Devices that exchange data with each other; nullopt where the number does not fit.
absl::StatusOr<std::optional<int64_t>> SubgroupSize(const HloInstruction& x, const HloModuleConfig& config) {
  KASHI_ASSIGN_OR_RETURN(const GroupMode* mode, ModeOf(x));
  const CollectiveDeviceList& devices = DevicesOf(x);
  const bool is_empty = devices.num_replica_groups() == 0;
  const std::optional<int64_t> ids = is_empty ? IdCount(*mode, config) : devices.num_devices_per_group();
  if (mode != &kCrossReplicaAndPartition || !ids.has_value()) return ids;
  return CheckedMultiply(*ids, config.num_partitions());
}

// ---- Numbers of pieces ----------------------------------------------------------------------------------------------

absl::Status CheckShardCount(const HloInstruction& x, const Shape& whole, const Shape& piece, const Verification& v) {
  const auto* dimensions = x.fields().Find<HloField::dimensions>();
  const auto size_of = [&](const Shape& shape) -> std::optional<int64_t> {
    if (dimensions == nullptr || dimensions->size() != 1 || !shape.IsArray()) return std::nullopt;
    const int64_t d = dimensions->Get(0);
    if (d < 0 || d >= shape.rank() || shape.is_unbounded_dynamic_dimension(static_cast<int>(d))) return std::nullopt;
    return shape.dimensions(static_cast<int>(d));
  };
  const std::optional<int64_t> whole_size = size_of(whole);
  const std::optional<int64_t> piece_size = size_of(piece);
  // Sizes of 0 determine nothing; shape inference has reported missing sizes.
  if (!whole_size.has_value() || piece_size.value_or(0) == 0) return absl::OkStatus();
  const int64_t shard_count = CeilOfRatio(*whole_size, *piece_size);
  KASHI_ASSIGN_OR_RETURN(const std::optional<int64_t> subgroup_size, SubgroupSize(x, v.module().config()));
  if (subgroup_size == 1 || subgroup_size == shard_count) return absl::OkStatus();
  return Internal("shard_count = %d, subgroup_size = %d", shard_count, subgroup_size.value_or(-1));
}

const Shape& FirstOf(const Shape& shape) {
  const Shape* leaf = &shape;
  while (leaf->IsTuple() && leaf->tuple_shapes_size() > 0) leaf = &leaf->tuple_shapes(0);
  return *leaf;
}

absl::Status CheckAllGather(const HloInstruction& x, const Verification& v) {
  if (x.operand_count() == 0) return absl::OkStatus();  // shape inference has said so
  return CheckShardCount(x, FirstOf(x.shape()), x.operand(0)->shape(), v);
}

absl::Status CheckAllGatherStart(const HloInstruction& x, const Verification& v) {
  if (x.operand_count() == 0 || !x.shape().IsTuple() || x.shape().tuple_shapes_size() < 2) return absl::OkStatus();
  return CheckShardCount(x, FirstOf(x.shape().tuple_shapes(1)), x.operand(0)->shape(), v);
}

absl::Status CheckReduceScatter(const HloInstruction& x, const Verification& v) {
  if (x.operand_count() == 0) return absl::OkStatus();
  return CheckShardCount(x, x.operand(0)->shape(), FirstOf(x.shape()), v);
}

absl::Status CheckAllToAll(const HloInstruction& x, const Verification& v) {
  const auto* dimensions = x.fields().Find<HloField::dimensions>();
  if (dimensions != nullptr && !dimensions->empty()) {
    return x.operand_count() == 1 ? absl::OkStatus() : CheckOperandCount(x, 1);
  }
  KASHI_ASSIGN_OR_RETURN(const std::optional<int64_t> size, SubgroupSize(x, v.module().config()));
  if (size == x.operand_count()) return absl::OkStatus();
  return Internal("all-to-all must have as many operands as its split count: operand_count %d, split_count %d",
                  x.operand_count(), size.value_or(-1));
}

// ---- collective-permute ---------------------------------------------------------------------------------------------

// Offsets into a buffer: a number for each dimension, or several such lists. Returns how many lists there are.
absl::StatusOr<int64_t> OffsetCount(const Shape& buffer, const Shape& offsets) {
  const auto fits = [&](const Shape& list) {
    return list.IsTuple() && buffer.IsArray() && list.tuple_shapes_size() == buffer.rank();
  };
  if (!offsets.IsTuple()) return Internal("Buffer offset is not tuple.");
  const bool is_list = offsets.tuple_shapes_size() > 0 && !offsets.tuple_shapes(0).IsTuple();
  const auto is_of_one_kind = [&](const Shape& part) { return part.IsTuple() != is_list; };
  if (!absl::c_all_of(offsets.tuple_shapes(), is_of_one_kind)) {
    return Internal("Buffer offset should either be a tuple of arrays or a tuple of tuples, but is %s",
                    ShapeUtil::HumanString(offsets));
  }
  if (is_list ? !fits(offsets) : !absl::c_all_of(offsets.tuple_shapes(), fits)) {
    return Internal("Buffer offset index should have the same number of elements as the buffer's rank: %s of %s",
                    ShapeUtil::HumanString(offsets), ShapeUtil::HumanString(buffer));
  }
  return is_list ? 1 : offsets.tuple_shapes_size();
}

// The number of times that a device may send and receive: once; in place, once for each offset.
absl::StatusOr<int64_t> TransfersOf(const HloInstruction& x) {
  if (!x.fields().Has(HloField::dynamic_slice_sizes_list)) return 1;
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, 4));
  const Shape& input = x.operand(0)->shape();
  const Shape& output = x.operand(1)->shape();
  if (input.IsTuple() != output.IsTuple() ||
      (input.IsTuple() && input.tuple_shapes_size() != output.tuple_shapes_size())) {
    return Internal("Unmatching input buffers and output buffers: %s and %s", ShapeUtil::HumanString(input),
                    ShapeUtil::HumanString(output));
  }
  int64_t most = 1;
  for (const int64_t side : {0, 1}) {
    const Shape& buffers = x.operand(side)->shape();
    const Shape& offsets = x.operand(side + 2)->shape();
    if (!buffers.IsTuple()) {
      KASHI_ASSIGN_OR_RETURN(const int64_t count, OffsetCount(buffers, offsets));
      most = std::max(most, count);
      continue;
    }
    if (!offsets.IsTuple() || offsets.tuple_shapes_size() != buffers.tuple_shapes_size()) {
      const char* const name = side == 0 ? "input" : "output";
      return Internal("Unmatching %s buffers and %s offset: %s and %s", name, name, ShapeUtil::HumanString(buffers),
                      ShapeUtil::HumanString(offsets));
    }
    for (int i = 0; i < buffers.tuple_shapes_size(); ++i) {
      KASHI_ASSIGN_OR_RETURN(const int64_t count, OffsetCount(buffers.tuple_shapes(i), offsets.tuple_shapes(i)));
      most = std::max(most, count);
    }
  }
  return most;
}

absl::Status CheckPermute(const HloInstruction& x, const Verification& v) {
  KASHI_ASSIGN_OR_RETURN(const GroupMode* mode, ModeOf(x));
  KASHI_ASSIGN_OR_RETURN(const int64_t transfers, TransfersOf(x));
  const std::optional<int64_t> devices = IdCount(*mode, v.module().config());
  absl::flat_hash_map<int64_t, int64_t> sources;
  absl::flat_hash_map<int64_t, int64_t> targets;
  const auto check = [&](const char* what, int64_t id, absl::flat_hash_map<int64_t, int64_t>* counts) -> absl::Status {
    if (id < 0) return Internal("%s %d in the instruction's source-target pair must be >= 0", what, id);
    if (devices != 1 && id >= devices.value_or(0)) {
      return Internal("%s %d in the instruction's source-target pair must be < %d, in %s mode", what, id,
                      devices.value_or(-1), mode->name);
    }
    if (++(*counts)[id] <= transfers) return absl::OkStatus();
    if (transfers == 1) return Internal("%s %d appears more than once in instruction's source-target pairs", what, id);
    return Internal("%s %d appears more than %d times in instruction's source-target pairs", what, id, transfers);
  };
  const SourceTargetPairs* pairs = x.fields().Find<HloField::source_target_pairs>();
  if (pairs == nullptr) return absl::OkStatus();
  for (const auto& [source, target] : *pairs) {
    KASHI_RETURN_IF_ERROR(check("Source", source, &sources));
    KASHI_RETURN_IF_ERROR(check("Target", target, &targets));
  }
  return absl::OkStatus();
}

absl::Status CheckRaggedAllToAll(const HloInstruction& x, const Verification&) {
  for (int64_t i = 2; i < x.operand_count(); ++i) {
    const Shape& shape = x.operand(i)->shape();
    if (!shape.IsArray() || shape.rank() < 1 || shape.rank() > 2) {
      return Internal("RaggedAllToAll operand %d must be rank 1 or 2: %s", i, ShapeUtil::HumanString(shape));
    }
    if (!ShapeUtil::Equal(shape, x.operand(2)->shape())) {
      return Internal("RaggedAllToAll operands have different shapes (%d, %d): %s and %s", 2, i,
                      ShapeUtil::HumanStringWithLayout(x.operand(2)->shape()), ShapeUtil::HumanStringWithLayout(shape));
    }
  }
  return absl::OkStatus();
}

constexpr OpcodeCheck kCollectiveChecks[] = {
    {HloOpcode::kAllGather, "replica groups", CheckGroups},
    {HloOpcode::kAllGather, "shard count", CheckAllGather},
    {HloOpcode::kAllGatherStart, "replica groups", CheckGroups},
    {HloOpcode::kAllGatherStart, "shard count", CheckAllGatherStart},
    {HloOpcode::kAllReduce, "replica groups", CheckGroups},
    {HloOpcode::kAllReduceStart, "replica groups", CheckGroups},
    {HloOpcode::kAllToAll, "replica groups", CheckGroups},
    {HloOpcode::kAllToAll, "all-to-all", CheckAllToAll},
    {HloOpcode::kCollectiveReduce, "replica groups", CheckGroups},
    {HloOpcode::kReduceScatter, "replica groups", CheckGroups},
    {HloOpcode::kReduceScatter, "shard count", CheckReduceScatter},
    {HloOpcode::kRaggedAllToAll, "replica groups", CheckGroups},
    {HloOpcode::kRaggedAllToAll, "ragged-all-to-all", CheckRaggedAllToAll},
    {HloOpcode::kCollectivePermute, "source-target pairs", CheckPermute},
    {HloOpcode::kCollectivePermuteStart, "source-target pairs", CheckPermute},
};

}  // namespace

absl::Span<const OpcodeCheck> CollectiveChecks() { return kCollectiveChecks; }

}  // namespace kashi::hlo::hlo_verifier
