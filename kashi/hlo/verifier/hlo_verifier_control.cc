// Operations that call computations, and operations that communicate with the host. (docs/spec/hlo-ops.md, 6)
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

// ---- while, conditional, call ---------------------------------------------------------------------------------------

absl::Status CheckWhile(const HloInstruction& x, const Verification& v) {
  const HloComputation& body = *x.while_body();
  const HloComputation& condition = *x.while_condition();
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, body, 1));
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, condition, 1));
  KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, 0, body, 0, v));
  KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, 0, condition, 0, v));
  const Shape& answer = condition.root_instruction()->shape();
  if (!ShapeUtil::IsScalarWithElementType(answer, PRED)) {
    return InvalidArgument("Conditional computation shape does not lead to a scalar predicate shape: %s",
                           ShapeUtil::HumanString(answer));
  }
  const Shape& result = body.root_instruction()->shape();
  if (v.ShapesSame(x.shape(), result)) return absl::OkStatus();
  return Internal("Expected instruction to have shape equal to %s, that of its body, actual shape is %s",
                  v.ShapeText(result), v.ShapeText(x.shape()));
}

absl::Status CheckWhileShardings(const HloInstruction& x, const Verification&) {
  std::vector<const HloInstruction*> values = {&x, x.while_body()->root_instruction()};
  for (const HloComputation* callee : {x.while_body(), x.while_condition()}) {
    if (callee->num_parameters() > 0) values.push_back(callee->parameter_instruction(0));
  }
  return CheckConsistentShardings(x, values);
}

absl::Status CheckBranchIndex(const HloInstruction& x) {
  const Shape& index = x.operand(0)->shape();
  if (!ShapeUtil::IsScalar(index)) {
    return InvalidArgument("The first operand of conditional must be a scalar. Got %s", ShapeUtil::HumanString(index));
  }
  if (index.element_type() == PRED) {
    if (x.branch_count() == 2) return absl::OkStatus();
    return Internal("A conditional on a predicate must have 2 branches, but has %d", x.branch_count());
  }
  if (x.branch_count() < 1) return Internal("A conditional must have a branch");
  if (index.element_type() == S32) return absl::OkStatus();
  return InvalidArgument("The first operand of indexed conditional must be a scalar of S32. Got type %s.",
                         PrimitiveType_Name(index.element_type()));
}

absl::Status CheckConditional(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckOperandCount(x, static_cast<int64_t>(x.branch_count()) + 1));
  KASHI_RETURN_IF_ERROR(CheckBranchIndex(x));
  for (int i = 0; i < x.branch_count(); ++i) {
    const HloComputation& branch = *x.branch_computation(i);
    KASHI_RETURN_IF_ERROR(CheckParameterCount(x, branch, 1));
    KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, i + 1, branch, 0, v));
    const Shape& result = branch.root_instruction()->shape();
    if (v.ShapesSame(x.shape(), result)) continue;
    return Internal("Expected instruction to have shape equal to %s, that of branch computation %d, actual shape is %s",
                    v.ShapeText(result), i, v.ShapeText(x.shape()));
  }
  return absl::OkStatus();
}

absl::Status CheckConditionalShardings(const HloInstruction& x, const Verification&) {
  std::vector<const HloInstruction*> values = {&x};
  for (const HloComputation* branch : x.branch_computations()) values.push_back(branch->root_instruction());
  return CheckConsistentShardings(x, values);
}

absl::Status CheckCall(const HloInstruction& x, const Verification& v) {
  const HloComputation& callee = *x.to_apply();
  KASHI_RETURN_IF_ERROR(CheckParameterCount(x, callee, x.operand_count()));
  for (int64_t i = 0; i < x.operand_count(); ++i) KASHI_RETURN_IF_ERROR(CheckOperandAndParameter(x, i, callee, i, v));
  return absl::OkStatus();
}

absl::Status CheckComposite(const HloInstruction& x, const Verification&) {
  if (!x.is_composite()) return absl::OkStatus();
  const FrontendAttributes::Map& attributes = x.frontend_attributes().map();
  if (attributes.empty()) return Internal("A composite call op must have frontend attributes");
  const auto name = attributes.find("composite.name");
  if (name == attributes.end() || name->second.empty()) {
    return InvalidArgument(
        "A composite call op must have frontend attributes with key composite.name whose value is non-empty");
  }
  const auto data = attributes.find("composite.attributes");
  if (data != attributes.end() && data->second.empty()) {
    return InvalidArgument(
        "A composite call op must have frontend attributes with key composite.attributes whose value is default: {} or "
        "non-empty");
  }
  const auto version = attributes.find("composite.version");
  int64_t number = 0;
  if (version != attributes.end() && (!absl::SimpleAtoi(version->second, &number) || number < 0)) {
    return InvalidArgument(
        "A composite call op must have frontend attributes with a composite.version whose value is a non-negative "
        "integer "
        "but got: %s",
        version->second);
  }
  if (!x.output_operand_aliasing().empty()) return Internal("A composite call may not alias outputs and operands");
  return absl::OkStatus();
}

// ---- fusion ---------------------------------------------------------------------------------------------------------

absl::Status CheckFusion(const HloInstruction& x, const Verification& v) {
  if (x.called_computations().size() != 1) {
    return Internal("Fusion has a non-unary number of called computations (%d)", x.called_computations().size());
  }
  const HloComputation& fused = *x.called_computations()[0];
  const Shape& result = fused.root_instruction()->shape();
  Shape::Equal equal;
  if (x.IsFused()) equal.IgnoreTilesInLayout().IgnoreMemorySpaceInLayout();
  if (!v.ShapesSame(x.shape(), result, equal)) {
    return Internal("Fused computation shape (%s) is not equal to the fusion shape (%s)", v.ShapeText(result),
                    v.ShapeText(x.shape()));
  }
  if (fused.num_parameters() > x.operand_count()) return CheckParameterCount(x, fused, x.operand_count());
  for (int64_t i = 0; i < fused.num_parameters(); ++i) {
    const absl::Status same = CheckOperandAndParameter(x, i, fused, i, v);
    if (same.ok()) continue;
    return absl::Status(same.code(), absl::StrCat("Shape mismatch between parameter number ", i, " and its operand in ",
                                                  x.name(), ": ", same.message()));
  }
  return absl::OkStatus();
}

absl::Status CheckFusionAliasing(const HloInstruction& x, const Verification& v) {
  Shape::Equal equal;
  if (x.IsFused()) equal.IgnoreTilesInLayout().IgnoreMemorySpaceInLayout();
  return CheckOutputOperandAliasing(x, equal, v, /*scalars_may_move=*/false);
}

absl::Status CheckFusedComputation(const HloInstruction& x, const Verification&) {
  const HloComputation& fused = *x.called_computations()[0];
  if (fused.FusionInstruction() != &x) {
    return Internal(
        "Instruction of fused computation does not match expected instruction: computation %s belongs to %s",
        fused.name(), fused.FusionInstruction() != nullptr ? fused.FusionInstruction()->name() : "(none)");
  }
  if (fused.root_instruction()->user_count() != 0) {
    return Internal("Root instruction %s of %s may not have users.", fused.root_instruction()->name(), fused.name());
  }
  for (const HloInstruction* inner : fused.instructions()) {
    if (inner == fused.root_instruction() || inner->user_count() > 0 || inner->HasSideEffect()) continue;
    return Internal("Non-root instruction %s in %s must have users.", inner->name(), fused.name());
  }
  return absl::OkStatus();
}

// ---- Tokens, the host -----------------------------------------------------------------------------------------------

absl::Status CheckAddDependency(const HloInstruction& x, const Verification&) { return CheckIsToken(x, 1); }

absl::Status CheckInfeed(const HloInstruction& x, const Verification&) {
  KASHI_RETURN_IF_ERROR(CheckIsToken(x, 0));
  const Shape& shape = x.shape();
  if (shape.IsTuple() && shape.tuple_shapes_size() == 2 && shape.tuple_shapes(1).IsToken()) return absl::OkStatus();
  return Internal("Expected infeed to give data and a token, actual shape is %s", ShapeUtil::HumanString(shape));
}

absl::Status CheckOutfeed(const HloInstruction& x, const Verification& v) {
  KASHI_RETURN_IF_ERROR(CheckIsToken(x, 1));
  const Shape* expected = x.fields().Find<HloField::outfeed_shape>();
  if (expected == nullptr || v.ShapesSame(*expected, x.operand(0)->shape())) return absl::OkStatus();
  return Internal("Expected outfeed shape to be equal to operand's shape %s, actual shape is %s",
                  v.ShapeText(x.operand(0)->shape()), v.ShapeText(*expected));
}

constexpr OpcodeCheck kControlChecks[] = {
    {HloOpcode::kWhile, "while", CheckWhile},
    {HloOpcode::kWhile, "consistent sharding", CheckWhileShardings},
    {HloOpcode::kConditional, "conditional", CheckConditional},
    {HloOpcode::kConditional, "consistent sharding", CheckConditionalShardings},
    {HloOpcode::kCall, "call", CheckCall},
    {HloOpcode::kCall, "composite call", CheckComposite},
    {HloOpcode::kFusion, "fusion shape", CheckFusion},
    {HloOpcode::kFusion, "aliasing", CheckFusionAliasing},
    {HloOpcode::kFusion, "fused computation", CheckFusedComputation},
    {HloOpcode::kAddDependency, "token", CheckAddDependency},
    {HloOpcode::kInfeed, "infeed", CheckInfeed},
    {HloOpcode::kOutfeed, "outfeed", CheckOutfeed},
};

}  // namespace

absl::Span<const OpcodeCheck> ControlChecks() { return kControlChecks; }

}  // namespace kashi::hlo::hlo_verifier
