#include "kashi/passes/kernel_premises.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/passes/combiner.h"
#include "kashi/passes/plain_array.h"
#include "kashi/passes/row_analysis.h"

namespace kashi::passes {
namespace {

absl::Status Broken(absl::string_view premise, const HloInstruction& instruction) {
  return absl::FailedPreconditionError(absl::StrCat("no kernel for ", instruction.parent()->name(), ": ", premise,
                                                    " does not hold for ", instruction.ToString()));
}

bool IsRoot(const HloInstruction& instruction) { return &instruction == instruction.parent()->root_instruction(); }

absl::Status CheckMember(const HloInstruction& instruction, const CodeSupport& support) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:
      return instruction.shape().IsArray() ? absl::OkStatus() : Broken("members: an array", instruction);
    case HloOpcode::kReduce:
      return CanReduce(instruction, support) ? absl::OkStatus() : Broken("reduce: its types and sizes", instruction);
    case HloOpcode::kScatter:
      if (!IsRoot(instruction) || !CanScatter(instruction, support))
        return Broken("scatter: windows of one element", instruction);
      return instruction.operand(0)->opcode() == HloOpcode::kParameter
                 ? absl::OkStatus()
                 : Broken("scatter: its operand is in memory", instruction);
    default:
      break;
  }
  if (instruction.opcode() == HloOpcode::kTuple && IsRoot(instruction)) return absl::OkStatus();
  return support.CanFuse(instruction) ? absl::OkStatus() : Broken("members: an emitter", instruction);
}

// Several results are elements of the root, a tuple.
absl::Status CheckResults(const HloInstruction& root) {
  if (root.opcode() != HloOpcode::kTuple) return absl::OkStatus();
  for (const HloInstruction* result : root.operands()) {
    if (result->opcode() == HloOpcode::kReduce || result->opcode() == HloOpcode::kScatter ||
        result->shape().dimensions() != root.operand(0)->shape().dimensions()) {
      return Broken("results: equal sizes", *result);
    }
  }
  return absl::OkStatus();
}

// A reduce within the kernel: of the rows that the kernel goes over.
absl::Status CheckInnerReduces(const HloComputation& fused) {
  const HloInstruction& root = *fused.root_instruction();
  const auto is_inner = [&](const HloInstruction* x) { return x->opcode() == HloOpcode::kReduce && !IsRoot(*x); };
  const std::vector<HloInstruction*> order = fused.MakeInstructionPostOrder();
  const auto inner = absl::c_find_if(order, is_inner);
  if (inner == order.end()) return absl::OkStatus();
  if (!RowSizesOf(root).has_value() || !AnalyzeRows(root, [](const HloInstruction&) { return true; }).is_valid) {
    return Broken("reduce: of the rows of the result", **inner);
  }
  return absl::OkStatus();
}

}  // namespace

bool CanReduce(const HloInstruction& instruction, const CodeSupport& support) {
  if (instruction.opcode() != HloOpcode::kReduce || instruction.HasControlDependencies()) return false;
  if (!IsScalarComputation(*instruction.to_apply(), support)) return false;
  const int64_t count = instruction.operand_count() / 2;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    const Shape& shape = instruction.operand(i)->shape();
    // The combiner's parameters have the types of the operands: operands that the evaluator converts are not compiled.
    if (!IsPlainArray(shape) || (i < count && shape.dimensions().empty()) ||
        shape.element_type() != instruction.to_apply()->parameter_instruction(i)->shape().element_type() ||
        shape.element_type() != instruction.operand(i % count)->shape().element_type()) {
      return false;
    }
  }
  bool has_types = true;
  ShapeUtil::ForEachSubshape(instruction.shape(), [&](const Shape& part, const ShapeIndex& index) {
    if (!part.IsArray()) return;
    const int64_t i = index.empty() ? 0 : index[0];
    has_types = has_types && part.is_static() && part.element_type() == instruction.operand(i)->shape().element_type();
  });
  const Shape& root = instruction.to_apply()->root_instruction()->shape();
  return has_types && (root.IsTuple() ? root.tuple_shapes().size() : 1) == count;
}

bool IsPlainScatter(const HloInstruction& instruction, const CodeSupport& support) {
  if (instruction.opcode() != HloOpcode::kScatter || instruction.HasControlDependencies() ||
      instruction.operand_count() != 3) {
    return false;
  }
  const HloComputation& combiner = *instruction.to_apply();
  const PrimitiveType type = instruction.shape().element_type();
  const auto has_type = [&](const HloInstruction* x) { return x->shape().element_type() == type; };
  return IsScalarComputation(combiner, support) && combiner.root_instruction()->shape().IsArray() &&
         has_type(combiner.root_instruction()) && absl::c_all_of(combiner.parameter_instructions(), has_type) &&
         has_type(instruction.operand(0)) && has_type(instruction.operand(2)) &&
         primitive_util::IsIntegralType(instruction.operand(1)->shape().element_type()) &&
         absl::c_all_of(instruction.operands(), [](auto* x) { return IsPlainArray(x->shape()); });
}

bool CanScatter(const HloInstruction& instruction, const CodeSupport& support) {
  return IsPlainScatter(instruction, support) &&
         absl::c_all_of(instruction.scatter_dimension_numbers().update_window_dims(),
                        [&](int64_t d) { return instruction.operand(2)->shape().dimensions(d) == 1; });
}

bool HasScalarStarts(const HloInstruction& slice, int64_t first_start) {
  if (slice.operand_count() != first_start + slice.operand(0)->shape().dimensions_size()) return false;
  return std::all_of(slice.operands().begin() + first_start, slice.operands().end(),
                     [](const HloInstruction* start) { return ShapeUtil::IsScalar(start->shape()); });
}

bool IsElementByElement(const HloComputation& fused, const CodeSupport& support) {
  const auto has_one_element = [](const HloInstruction* x) { return ShapeUtil::ElementsIn(x->shape()) == 1; };
  return absl::c_all_of(fused.instructions(), [&](const HloInstruction* instruction) {
    const HloOpcode opcode = instruction->opcode();
    if (!instruction->shape().IsArray()) return opcode == HloOpcode::kTuple;
    // A gather may read a scalar anywhere in an array.
    if (ShapeUtil::IsScalar(instruction->shape())) return absl::c_all_of(instruction->operands(), has_one_element);
    if (opcode == HloOpcode::kReduce || opcode == HloOpcode::kScatter) return false;
    if (opcode == HloOpcode::kBroadcast) return ShapeUtil::IsScalar(instruction->operand(0)->shape());
    return opcode == HloOpcode::kParameter || opcode == HloOpcode::kReshape || opcode == HloOpcode::kBitcast ||
           !support.MovesElements(opcode);
  });
}

absl::Status CheckKernelPremises(const HloComputation& fused, const CodeSupport& support) {
  for (const HloInstruction* instruction : fused.instructions())
    KASHI_RETURN_IF_ERROR(CheckMember(*instruction, support));
  KASHI_RETURN_IF_ERROR(CheckResults(*fused.root_instruction()));
  return CheckInnerReduces(fused);
}

}  // namespace kashi::passes
