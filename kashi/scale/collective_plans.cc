#include "kashi/scale/collective_plans.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/transfer_routes.h"
#include "kashi/scale/collective_time.h"

namespace kashi::scale {
namespace {

// The collective that an async-start runs; otherwise the instruction itself.
const HloInstruction& WithoutWrapper(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kAsyncStart) return instruction;
  const HloInstruction* wrapped = instruction.async_wrapped_instruction();
  return wrapped == nullptr ? instruction : *wrapped;
}

double BytesOf(const Shape& shape) { return analysis::SumOverLeaves(shape, analysis::DenseBytes); }

double OperandBytes(const HloInstruction& instruction) {
  double bytes = 0;
  for (const HloInstruction* operand : instruction.operands()) bytes += BytesOf(operand->shape());
  return bytes;
}

// The results of an all-gather-start follow its operands in a tuple.
double GatheredBytes(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kAllGather) return BytesOf(instruction.shape());
  return std::max(0.0, BytesOf(instruction.shape()) - OperandBytes(instruction));
}

double CollectiveBytes(const HloInstruction& collective, HloOpcode opcode) {
  if (opcode == HloOpcode::kAllGather) return GatheredBytes(collective);
  // The others of its operands are buffers to write, offsets and sizes.
  if (opcode == HloOpcode::kRaggedAllToAll && collective.operand_count() > 0) {
    return BytesOf(collective.operand(0)->shape());
  }
  return OperandBytes(collective);
}

}  // namespace

std::optional<HloOpcode> CollectiveOpcode(const HloInstruction& instruction) {
  static constexpr std::pair<HloOpcode, HloOpcode> kStarts[] = {
      {HloOpcode::kAllGatherStart, HloOpcode::kAllGather},
      {HloOpcode::kAllReduceStart, HloOpcode::kAllReduce},
      {HloOpcode::kCollectivePermuteStart, HloOpcode::kCollectivePermute},
  };
  static constexpr HloOpcode kWhole[] = {HloOpcode::kAllGather,         HloOpcode::kAllReduce,
                                         HloOpcode::kAllToAll,          HloOpcode::kCollectiveBroadcast,
                                         HloOpcode::kCollectivePermute, HloOpcode::kCollectiveReduce,
                                         HloOpcode::kRaggedAllToAll,    HloOpcode::kReduceScatter};
  const HloOpcode opcode = WithoutWrapper(instruction).opcode();
  for (const auto& [start, whole] : kStarts) {
    if (opcode == start) return whole;
  }
  if (absl::c_linear_search(kWhole, opcode)) return opcode;
  return std::nullopt;
}

absl::StatusOr<const CollectivePlan*> CollectivePlans::PlanOf(const HloInstruction& instruction) {
  std::unique_ptr<CollectivePlan>& plan = plans_[&instruction];
  if (plan == nullptr) {
    KASHI_ASSIGN_OR_RETURN(CollectivePlan made, MakePlan(WithoutWrapper(instruction), *CollectiveOpcode(instruction)));
    plan = std::make_unique<CollectivePlan>(std::move(made));
  }
  return plan.get();
}

absl::StatusOr<CollectivePlan> CollectivePlans::MakePlan(const HloInstruction& instruction, HloOpcode opcode) {
  const double bytes = CollectiveBytes(instruction, opcode);
  if (opcode == HloOpcode::kCollectivePermute) {
    return MakePermutePlan(instruction.source_target_pairs(), instruction.channel_id().has_value(), bytes);
  }
  KASHI_ASSIGN_OR_RETURN(const Groups* groups, GroupsOf(instruction));
  const CollectiveTime time = TimeOf(opcode, bytes, groups->geometry, network_.kind());
  CollectivePlan plan;
  plan.opcode = opcode;
  plan.groups = groups->groups;
  plan.group_count = groups->geometry.groups;
  plan.members = groups->geometry.members;
  plan.bytes = bytes;
  plan.seconds = time.seconds;
  plan.traffic = TrafficOfGroups(opcode, *groups->groups, bytes, host_devices_);
  plan.algorithm = time.algorithm;
  return plan;
}

absl::StatusOr<const CollectivePlans::Groups*> CollectivePlans::GroupsOf(const HloInstruction& collective) {
  KASHI_ASSIGN_OR_RETURN(const CollectiveGroupMode mode, GetCollectiveGroupMode(collective));
  const std::string key = absl::StrCat(CollectiveGroupModeName(mode), " ", collective.device_list().ToString());
  std::unique_ptr<Groups>& groups = groups_[key];
  if (groups != nullptr) return groups.get();
  auto made = std::make_shared<DeviceGroups>();
  std::vector<bool> is_known(counts_.total());
  for (int64_t device = 0; device < counts_.total(); ++device) {
    if (is_known[device]) continue;
    KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> group, CollectiveGroupOf(collective, counts_, device));
    for (const int64_t member : group) is_known[member] = true;
    made->push_back(std::move(group));
  }
  Groups entry = {made, GeometryOf(network_, *made)};
  groups_[key] = std::make_unique<Groups>(std::move(entry));
  return groups_[key].get();
}

// Ids are numbers of partitions, within each replica, or numbers of replicas, within each partition.
absl::StatusOr<CollectivePlan> CollectivePlans::MakePermutePlan(const DevicePairs& ids, bool are_partitions,
                                                                double bytes) const {
  const int64_t count = are_partitions ? counts_.partitions : counts_.replicas;
  const int64_t others = counts_.total() / count;
  auto pairs = std::make_shared<DevicePairs>();
  for (const auto& [source, target] : ids) {
    if (std::min(source, target) < 0 || std::max(source, target) >= count) {
      return InvalidArgument("its pairs name id %d, but the ids are 0 to %d",
                             source < 0 || source >= count ? source : target, count - 1);
    }
    for (int64_t other = 0; other < others; ++other) {
      const auto device = [&](int64_t id) {
        return are_partitions ? other * counts_.partitions + id : id * counts_.partitions + other;
      };
      pairs->emplace_back(device(source), device(target));
    }
  }
  const RouteLoad load = LoadOf(network_, *pairs);
  CollectivePlan plan;
  plan.opcode = HloOpcode::kCollectivePermute;
  plan.group_count = 1;
  plan.members = static_cast<int64_t>(pairs->size());
  plan.traffic = TrafficOfPairs(*pairs, bytes, host_devices_);
  plan.pairs = std::move(pairs);
  plan.bytes = bytes;
  plan.seconds = load.hop_seconds + bytes * load.seconds_per_byte;
  plan.algorithm = "direct";
  return plan;
}

absl::StatusOr<const CollectivePlan*> CollectivePlans::PlanOfSend(const HloInstruction& send) {
  std::unique_ptr<CollectivePlan>& plan = plans_[&send];
  if (plan != nullptr) return plan.get();
  if (!hlo::IsDeviceTransfer(send) || send.operand_count() == 0) return nullptr;
  KASHI_ASSIGN_OR_RETURN(const auto ids, hlo::TransferPairs(send));
  if (!ids.has_value() || ids->empty()) return nullptr;
  KASHI_ASSIGN_OR_RETURN(CollectivePlan made,
                         MakePermutePlan(*ids, hlo::NamesPartitions(send, counts_), BytesOf(send.operand(0)->shape())));
  made.opcode = HloOpcode::kSend;
  plan = std::make_unique<CollectivePlan>(std::move(made));
  return plan.get();
}

}  // namespace kashi::scale
