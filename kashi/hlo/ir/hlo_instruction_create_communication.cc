// The factories of instructions that reach other devices, the host or other streams. See hlo_instruction_create.cc.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_instruction_create_fields.h"

namespace kashi {

using hlo::create_fields::Calls;
using hlo::create_fields::Dimension;
using hlo::create_fields::Fields;
using hlo::create_fields::With;
using hlo::create_fields::WithFlag;
using hlo::create_fields::WithOptional;
using hlo::create_fields::WithUnless;

namespace {

using Instruction = std::unique_ptr<HloInstruction>;

WithFlag<HloField::use_global_device_ids> GlobalDeviceIds(bool value) { return {value, false}; }
WithFlag<HloField::constrain_layout> ConstrainLayout(bool value) { return {value, false}; }
WithFlag<HloField::is_host_transfer> HostTransfer(bool value) { return {value, false}; }
WithOptional<HloField::channel_id> Channel(const std::optional<int64_t>& channel_id) { return {channel_id}; }
With<HloField::replica_groups> Groups(const CollectiveDeviceList& list) { return {list}; }

Shape TransferShape(const Shape& data) {
  return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeShape(U32, {}), ShapeUtil::MakeTokenShape()});
}
Shape WithToken(const Shape& data) { return ShapeUtil::MakeTupleShape({data, ShapeUtil::MakeTokenShape()}); }

}  // namespace

// ---- Collectives ---------------------------------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateAllGather(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                     int64_t all_gather_dimension,
                                                     const CollectiveDeviceList& device_list, bool constrain_layout,
                                                     const std::optional<int64_t>& channel_id,
                                                     bool use_global_device_ids) {
  return Create(HloOpcode::kAllGather, shape, operands,
                Fields(Dimension(all_gather_dimension), Groups(device_list), ConstrainLayout(constrain_layout),
                       Channel(channel_id), GlobalDeviceIds(use_global_device_ids)));
}

Instruction HloInstructionFactories::CreateAllGatherStart(
    const Shape& shape, absl::Span<HloInstruction* const> operands, int64_t all_gather_dimension,
    const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
    bool use_global_device_ids) {
  return Create(HloOpcode::kAllGatherStart, shape, operands,
                Fields(Dimension(all_gather_dimension), Groups(device_list), ConstrainLayout(constrain_layout),
                       Channel(channel_id), GlobalDeviceIds(use_global_device_ids)));
}

Instruction HloInstructionFactories::CreateAllReduce(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                     HloComputation* reduce_computation,
                                                     const CollectiveDeviceList& device_list, bool constrain_layout,
                                                     const std::optional<int64_t>& channel_id,
                                                     bool use_global_device_ids) {
  return Create(HloOpcode::kAllReduce, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
                       GlobalDeviceIds(use_global_device_ids), Calls(reduce_computation)));
}

Instruction HloInstructionFactories::CreateAllReduceStart(
    const Shape& shape, absl::Span<HloInstruction* const> operands, HloComputation* reduce_computation,
    const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
    bool use_global_device_ids) {
  return Create(HloOpcode::kAllReduceStart, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
                       GlobalDeviceIds(use_global_device_ids), Calls(reduce_computation)));
}

Instruction HloInstructionFactories::CreateReduceScatter(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                         HloComputation* reduce_computation,
                                                         const CollectiveDeviceList& device_list, bool constrain_layout,
                                                         const std::optional<int64_t>& channel_id,
                                                         bool use_global_device_ids, int64_t scatter_dimension) {
  return Create(
      HloOpcode::kReduceScatter, shape, operands,
      Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
             GlobalDeviceIds(use_global_device_ids), Dimension(scatter_dimension), Calls(reduce_computation)));
}

Instruction HloInstructionFactories::CreateAllToAll(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                    const CollectiveDeviceList& device_list, bool constrain_layout,
                                                    const std::optional<int64_t>& channel_id,
                                                    const std::optional<int64_t>& split_dimension) {
  HloFieldList fields = Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id));
  if (split_dimension) Dimension(*split_dimension).AddTo(&fields);
  return Create(HloOpcode::kAllToAll, shape, operands, std::move(fields));
}

Instruction HloInstructionFactories::CreateRaggedAllToAll(const Shape& shape,
                                                          absl::Span<HloInstruction* const> operands,
                                                          const CollectiveDeviceList& device_list,
                                                          const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kRaggedAllToAll, shape, operands, Fields(Groups(device_list), Channel(channel_id)));
}

Instruction HloInstructionFactories::CreateCollectiveBroadcast(
    const Shape& shape, absl::Span<HloInstruction* const> operands, const CollectiveDeviceList& device_list,
    bool constrain_layout, const std::optional<int64_t>& channel_id, bool has_dynamic_root) {
  HloFieldList fields = Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id));
  if (has_dynamic_root) fields.Set<HloField::has_dynamic_root>(true);
  return Create(HloOpcode::kCollectiveBroadcast, shape, operands, std::move(fields));
}

Instruction HloInstructionFactories::CreateCollectiveReduce(
    const Shape& shape, absl::Span<HloInstruction* const> operands, HloComputation* reduce_computation,
    const CollectiveDeviceList& device_list, bool constrain_layout, const std::optional<int64_t>& channel_id,
    bool use_global_device_ids, bool has_dynamic_root) {
  return Create(HloOpcode::kCollectiveReduce, shape, operands,
                Fields(Groups(device_list), ConstrainLayout(constrain_layout), Channel(channel_id),
                       GlobalDeviceIds(use_global_device_ids), Calls(reduce_computation),
                       With<HloField::has_dynamic_root>{has_dynamic_root}));
}

Instruction HloInstructionFactories::CreateCollectivePermute(const Shape& shape, HloInstruction* operand,
                                                             const SourceTargetPairs& source_target_pairs,
                                                             const std::optional<int64_t>& channel_id) {
  return CreateCollectivePermute(shape, absl::MakeConstSpan(&operand, 1), source_target_pairs, channel_id);
}

Instruction HloInstructionFactories::CreateCollectivePermute(const Shape& shape,
                                                             absl::Span<HloInstruction* const> operands,
                                                             const SourceTargetPairs& source_target_pairs,
                                                             const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kCollectivePermute, shape, operands,
                Fields(With<HloField::source_target_pairs>{source_target_pairs}, Channel(channel_id)));
}

Instruction HloInstructionFactories::CreateCollectivePermuteStart(const Shape& shape,
                                                                  absl::Span<HloInstruction* const> operands,
                                                                  const SourceTargetPairs& source_target_pairs,
                                                                  const std::optional<int64_t>& channel_id) {
  return Create(HloOpcode::kCollectivePermuteStart, shape, operands,
                Fields(With<HloField::source_target_pairs>{source_target_pairs}, Channel(channel_id)));
}

Instruction HloInstructionFactories::CreateReplicaId(const Shape& shape) {
  return Create(HloOpcode::kReplicaId, shape, {});
}
Instruction HloInstructionFactories::CreateReplicaId() { return CreateReplicaId(ShapeUtil::MakeShape(U32, {})); }
Instruction HloInstructionFactories::CreatePartitionId(const Shape& shape) {
  return Create(HloOpcode::kPartitionId, shape, {});
}
Instruction HloInstructionFactories::CreatePartitionId() { return CreatePartitionId(ShapeUtil::MakeShape(U32, {})); }

// ---- Asynchronous operations and transfers -------------------------------------------------------------------------

Instruction HloInstructionFactories::CreateAsyncStart(const Shape& shape, absl::Span<HloInstruction* const> operands,
                                                      HloComputation* async_computation,
                                                      absl::string_view execution_thread) {
  absl::flat_hash_set<const HloComputation*> done;
  async_computation->SpreadExecutionThread(execution_thread, &done);
  return Create(HloOpcode::kAsyncStart, shape, operands,
                Fields(WithUnless<HloField::async_execution_thread>{std::string(execution_thread),
                                                                    std::string(kMainExecutionThread)},
                       Calls(async_computation)));
}

Instruction HloInstructionFactories::CreateAsyncUpdate(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kAsyncUpdate, shape, {operand});
}
Instruction HloInstructionFactories::CreateAsyncDone(const Shape& shape, HloInstruction* operand) {
  return Create(HloOpcode::kAsyncDone, shape, {operand});
}

Instruction HloInstructionFactories::CreateCopyStart(const Shape& shape, HloInstruction* operand,
                                                     std::optional<int> cross_program_prefetch_index) {
  return Create(HloOpcode::kCopyStart, shape, {operand},
                Fields(WithOptional<HloField::cross_program_prefetch_index>{cross_program_prefetch_index}));
}

Instruction HloInstructionFactories::CreateInfeed(const Shape& infeed_shape, HloInstruction* token,
                                                  const std::string& config) {
  return Create(HloOpcode::kInfeed, WithToken(infeed_shape), {token},
                Fields(WithUnless<HloField::infeed_config>{config, ""}));
}

Instruction HloInstructionFactories::CreateOutfeed(const Shape& outfeed_shape, HloInstruction* operand,
                                                   HloInstruction* token, absl::string_view outfeed_config) {
  return Create(HloOpcode::kOutfeed, ShapeUtil::MakeTokenShape(), {operand, token},
                Fields(With<HloField::outfeed_shape>{outfeed_shape},
                       WithUnless<HloField::outfeed_config>{std::string(outfeed_config), ""}));
}

Instruction HloInstructionFactories::CreateSend(HloInstruction* operand, HloInstruction* token,
                                                std::optional<int64_t> channel_id, bool is_host_transfer) {
  return Create(HloOpcode::kSend, TransferShape(operand->shape()), {operand, token},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstructionFactories::CreateSendDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                                    bool is_host_transfer) {
  return Create(HloOpcode::kSendDone, ShapeUtil::MakeTokenShape(), {operand},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstructionFactories::CreateRecv(const Shape& shape, HloInstruction* token,
                                                std::optional<int64_t> channel_id, bool is_host_transfer) {
  return Create(HloOpcode::kRecv, TransferShape(shape), {token},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstructionFactories::CreateRecvDone(HloInstruction* operand, std::optional<int64_t> channel_id,
                                                    bool is_host_transfer) {
  return Create(HloOpcode::kRecvDone, WithToken(ShapeUtil::GetTupleElementShape(operand->shape(), 0)), {operand},
                Fields(Channel(channel_id), HostTransfer(is_host_transfer)));
}

Instruction HloInstructionFactories::CreateAfterAll(absl::Span<HloInstruction* const> operands) {
  KASHI_CHECK(!operands.empty()) << "after-all needs an operand: use CreateToken";
  return Create(HloOpcode::kAfterAll, ShapeUtil::MakeTokenShape(), operands);
}
Instruction HloInstructionFactories::CreateToken() {
  return Create(HloOpcode::kAfterAll, ShapeUtil::MakeTokenShape(), {});
}

Instruction HloInstructionFactories::CreateAddDependency(HloInstruction* data_operand, HloInstruction* token_operand) {
  return Create(HloOpcode::kAddDependency, data_operand->shape(), {data_operand, token_operand});
}

Instruction HloInstructionFactories::CreateDomain(const Shape& shape, HloInstruction* operand, HloSharding entry,
                                                  HloSharding exit) {
  return Create(HloOpcode::kDomain, shape, {operand},
                Fields(With<HloField::domain>{DomainShardings{std::move(entry), std::move(exit)}}));
}

}  // namespace kashi
