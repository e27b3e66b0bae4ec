#include "kashi/passes/keep_excess_precision.h"

#include <iterator>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/excess_precision.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::passes {
namespace {

bool TakesWide(const HloInstruction* user) { return evaluator::TakesUnrounded(*user); }

std::vector<HloInstruction*> WideOperands(HloInstruction* x) {
  std::vector<HloInstruction*> operands(x->operands().begin(), x->operands().end());
  if (!evaluator::HasWideOperands(*x)) return operands;
  for (HloInstruction*& operand : operands) {
    const Shape shape = ShapeUtil::ChangeElementType(operand->shape(), F32);
    operand = x->parent()->AddInstruction(HloInstruction::CreateConvert(shape, operand));
  }
  return operands;
}

absl::Status Widen(HloInstruction* x) {
  HloComputation* const computation = x->parent();
  std::vector<HloInstruction*> converts;
  absl::c_copy_if(x->users(), std::back_inserter(converts), TakesWide);
  HloInstruction* const wide = computation->AddInstruction(
      x->CloneWithNewOperands(ShapeUtil::ChangeElementType(x->shape(), F32), WideOperands(x)));
  wide->set_metadata(x->metadata());
  HloInstruction* const narrow = computation->AddInstruction(HloInstruction::CreateConvert(x->shape(), wide));
  KASHI_RETURN_IF_ERROR(computation->ReplaceInstruction(x, narrow));
  // The last one takes the narrow value with it, if nothing else uses that.
  for (HloInstruction* convert : converts) KASHI_RETURN_IF_ERROR(computation->ReplaceInstruction(convert, wide));
  return absl::OkStatus();
}

}  // namespace

absl::Status KeepExcessPrecision(HloModule* module, const PassContext& context) {
  if (!context.excess_precision) return absl::OkStatus();
  module->RemoveDeadCode();  // so that what takes the place of a convert has users
  for (HloComputation* computation : module->computations()) {
    KASHI_RETURN_IF_ERROR(context.check_stopped());
    // Found before anything changes: a convert that this pass makes keeps what was rounded.
    std::vector<HloInstruction*> found;
    absl::c_copy_if(computation->MakeInstructionPostOrder(), std::back_inserter(found), [](const HloInstruction* x) {
      return evaluator::CanBeUnrounded(*x) && absl::c_any_of(x->users(), TakesWide);
    });
    for (HloInstruction* x : found) KASHI_RETURN_IF_ERROR(Widen(x));
  }
  return absl::OkStatus();
}

}  // namespace kashi::passes
