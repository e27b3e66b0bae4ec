#include "kashi/passes/fold_constants.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/literal/literal_util.h"
#include "kashi/passes/inline_calls.h"

namespace kashi::passes {
namespace {

constexpr int64_t kMostFoldedElements = 64;

bool HasFewElements(const HloInstruction* x) {
  return x->shape().IsArray() && x->shape().is_static() && ShapeUtil::ElementsIn(x->shape()) <= kMostFoldedElements;
}

// A constant, or one that is repeated.
bool IsKnown(const HloInstruction* x) {
  if (x->opcode() == HloOpcode::kBroadcast && HasFewElements(x)) x = x->operand(0);
  return x->opcode() == HloOpcode::kConstant && HasFewElements(x);
}

bool CanFoldConstants(const HloInstruction& instruction, const CodeSupport& support) {
  if (instruction.operand_count() == 0 || !support.CanFuse(instruction) || !HasFewElements(&instruction)) return false;
  const bool repeats = instruction.opcode() == HloOpcode::kBroadcast && ShapeUtil::ElementsIn(instruction.shape()) > 1;
  return !repeats && absl::c_all_of(instruction.operands(), IsKnown);
}

// The constant, or a broadcast of one element if all are equal: kernels repeat it at no cost.
HloInstruction* AddConstant(Literal value, HloInstruction& folded) {
  HloComputation* const computation = folded.parent();
  const bool is_repeated = ShapeUtil::ElementsIn(value.shape()) > 1 && value.IsAllFirst();
  if (!is_repeated) {
    return computation->AddInstruction(HloInstruction::CreateConstant(std::move(value)), folded.name());
  }
  HloInstruction* const element = computation->AddInstruction(
      HloInstruction::CreateConstant(LiteralUtil::GetFirstScalarLiteral(value)), folded.name());
  return computation->AddInstruction(HloInstruction::CreateBroadcast(folded.shape(), element, {}));
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
               CanFoldConstants(*instruction, context.support) &&
               evaluator.TryEvaluate(instruction, &value, /*recursively_evaluate_nonconstant_operands=*/true)) {
      KASHI_RETURN_IF_ERROR(ReplaceUses(instruction, AddConstant(std::move(value), *instruction)));
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
