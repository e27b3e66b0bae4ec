#include "kashi/passes/fold_constants.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

constexpr int64_t kMostFoldedElements = 64;

bool HasFewElements(const HloInstruction* x) {
  return x->shape().IsArray() && x->shape().is_static() && ShapeUtil::ElementsIn(x->shape()) <= kMostFoldedElements;
}

bool CanFoldConstants(const HloInstruction& instruction, const CodeSupport& support) {
  if (instruction.operand_count() == 0 || !support.CanFuse(instruction) || !HasFewElements(&instruction)) return false;
  const bool repeats = instruction.opcode() == HloOpcode::kBroadcast && ShapeUtil::ElementsIn(instruction.shape()) > 1;
  return !repeats && absl::c_all_of(instruction.operands(), [](const HloInstruction* operand) {
    return operand->opcode() == HloOpcode::kConstant && HasFewElements(operand);
  });
}

absl::Status ReplaceUses(HloInstruction* instruction, HloInstruction* by) {
  HloComputation* computation = instruction->parent();
  KASHI_RETURN_IF_ERROR(instruction->ReplaceAllUsesWithDifferentShape(by));
  if (instruction == computation->root_instruction()) {
    computation->set_root_instruction(by, /*accept_different_shape=*/true);
  }
  return absl::OkStatus();
}

absl::Status FoldIn(HloComputation* computation, const PassContext& context) {
  HloEvaluator evaluator;
  for (HloInstruction* instruction : computation->MakeInstructionPostOrder()) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    if (instruction->HasControlDependencies()) continue;
    if (instruction->opcode() == HloOpcode::kGetTupleElement &&
        instruction->operand(0)->opcode() == HloOpcode::kTuple) {
      HloInstruction* element = instruction->mutable_operand(0)->mutable_operand(instruction->tuple_index());
      if (!ShapeUtil::Compatible(element->shape(), instruction->shape())) continue;
      KASHI_RETURN_IF_ERROR(ReplaceUses(instruction, element));
    } else if (Literal value;
               CanFoldConstants(*instruction, context.support) && evaluator.TryEvaluate(instruction, &value)) {
      HloInstruction* constant =
          computation->AddInstruction(HloInstruction::CreateConstant(std::move(value)), instruction->name());
      KASHI_RETURN_IF_ERROR(ReplaceUses(instruction, constant));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FoldConstants(HloModule* module, const PassContext& context) {
  for (HloComputation* computation : ComputationsRunAsAWhole(module)) {
    KASHI_RETURN_IF_ERROR(FoldIn(computation, context));
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
