#include "kashi/partition/inspect_calls.h"

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi::partition {
namespace {

bool IsInspectCall(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCustomCall && instruction.custom_call_target() == "InspectSharding" &&
         instruction.operand_count() == 1 && instruction.operand(0)->shape().IsArray() &&
         ShapeUtil::Compatible(instruction.shape(), instruction.operand(0)->shape());
}

}  // namespace

absl::StatusOr<std::vector<InspectCall>> TakeInspectCalls(HloModule* flat) {
  std::vector<InspectCall> calls;
  for (HloComputation* computation : flat->computations()) {
    for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
      if (!IsInspectCall(*instruction)) continue;
      calls.push_back({instruction->operand(0), instruction->raw_backend_config_string()});
      KASHI_RETURN_IF_ERROR(instruction->ReplaceAllUsesWith(instruction->mutable_operand(0)));
      KASHI_RETURN_IF_ERROR(computation->RemoveInstruction(instruction));
    }
  }
  return calls;
}

absl::Status TellShardings(const std::vector<InspectCall>& calls, const ProgramShardings& shardings,
                           const DeviceAxes& axes, const PartitionOptions& options) {
  for (const InspectCall& call : calls) {
    const Variable& variable = shardings.variable(shardings.VariablesOf(*call.array)[0]);
    const HloSharding sharding =
        variable.is_manual ? HloSharding::Manual() : axes.ToSharding(variable.sharding, variable.unreduced);
    KASHI_RETURN_IF_ERROR(options.inspect(call.backend_config, sharding));
  }
  return absl::OkStatus();
}

}  // namespace kashi::partition
