#include "kashi/hlo/builder/xla_builder_friend.h"

#include <utility>
#include <vector>

#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi::internal {

using hlo::Inferred;
using hlo::Lower;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;

namespace {

// Adds one instruction with the given shape and no fields.
XlaOp AddPlain(XlaBuilder* builder, HloOpcode opcode, absl::Span<const XlaOp> operands, const Shape& shape) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) { return to.Add(shape, opcode, x); });
}

std::optional<int64_t> ChannelId(const std::optional<ChannelHandle>& channel) {
  return channel ? std::optional<int64_t>(channel->handle()) : std::nullopt;
}

}  // namespace

XlaOp XlaBuilderFriend::BuildAddDependency(XlaBuilder* builder, XlaOp operand, XlaOp token, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kAddDependency, {operand, token}, shape);
}

XlaOp XlaBuilderFriend::BuildAllReduceStart(XlaBuilder* builder, XlaOp operand, const XlaComputationRef& computation,
                                            absl::Span<const ReplicaGroup> replica_groups,
                                            const std::optional<ChannelHandle>& channel_id,
                                            std::optional<bool> use_global_device_ids) {
  return Lower(builder, {operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * reducer, to.Embed(computation));
    return to.AddInferred(HloInstruction::CreateAllReduceStart(
        Inferred(), x, reducer, CollectiveDeviceList(replica_groups), /*constrain_layout=*/false, ChannelId(channel_id),
        use_global_device_ids.value_or(false)));
  });
}
XlaOp XlaBuilderFriend::BuildAllReduceDone(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kAllReduceDone, {operand}, shape);
}

XlaOp XlaBuilderFriend::BuildAsyncStart(XlaBuilder* builder, absl::Span<const XlaOp> operands,
                                        const std::string& execution_thread,
                                        const XlaComputationRef& called_computation, const Shape& shape) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloComputation * called, to.Embed(called_computation));
    return to.Add(HloInstruction::CreateAsyncStart(shape, x, called, execution_thread));
  });
}
XlaOp XlaBuilderFriend::BuildAsyncUpdate(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kAsyncUpdate, {operand}, shape);
}
XlaOp XlaBuilderFriend::BuildAsyncDone(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kAsyncDone, {operand}, shape);
}

XlaOp XlaBuilderFriend::BuildBitcast(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kBitcast, {operand}, shape);
}

XlaOp XlaBuilderFriend::BuildCollectivePermuteStart(XlaBuilder* builder, XlaOp operand,
                                                    const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                                                    const std::optional<ChannelHandle>& channel_id) {
  return Lower(builder, {operand}, [&](XlaLowering& to, Nodes x) {
    return to.AddInferred(
        HloInstruction::CreateCollectivePermuteStart(Inferred(), x, source_target_pairs, ChannelId(channel_id)));
  });
}
XlaOp XlaBuilderFriend::BuildCollectivePermuteDone(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kCollectivePermuteDone, {operand}, shape);
}

XlaOp XlaBuilderFriend::BuildCopyStart(XlaBuilder* builder, XlaOp operand,
                                       std::optional<int> cross_program_prefetch_index) {
  return Lower(builder, {operand}, [&](XlaLowering& to, Nodes x) {
    return to.AddInferred(HloInstruction::CreateCopyStart(Inferred(), x[0], cross_program_prefetch_index));
  });
}
XlaOp XlaBuilderFriend::BuildCopyDone(XlaBuilder* builder, XlaOp operand, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kCopyDone, {operand}, shape);
}

XlaOp XlaBuilderFriend::BuildDomain(XlaBuilder* builder, XlaOp operand, const OpSharding& entry, const OpSharding& exit,
                                    const Shape& shape) {
  return Lower(builder, {operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(HloSharding entry_sharding, HloSharding::FromProto(entry));
    KASHI_ASSIGN_OR_RETURN(HloSharding exit_sharding, HloSharding::FromProto(exit));
    return to.Add(HloInstruction::CreateDomain(shape, x[0], std::move(entry_sharding), std::move(exit_sharding)));
  });
}

XlaOp XlaBuilderFriend::BuildFusion(XlaBuilder* builder, absl::Span<const XlaOp> operands,
                                    absl::string_view fusion_kind, const XlaComputationRef& fused_computation) {
  return Lower(builder, operands, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const FusionKind kind, StringToFusionKind(fusion_kind));
    KASHI_ASSIGN_OR_RETURN(HloComputation * fused, to.Embed(fused_computation));
    return to.Add(HloInstruction::CreateFusion(fused->root_instruction()->shape(), kind, x, fused));
  });
}

XlaOp XlaBuilderFriend::BuildPartitionId(XlaBuilder* builder, const Shape& shape) {
  return AddPlain(builder, HloOpcode::kPartitionId, {}, shape);
}

XlaOp XlaBuilderFriend::BuildRngGetAndUpdateState(XlaBuilder* builder, int64_t delta, const Shape& shape) {
  return Lower(builder, {}, [&](XlaLowering& to, Nodes) {
    return to.Add(HloInstruction::CreateRngGetAndUpdateState(shape, delta));
  });
}

}  // namespace kashi::internal
