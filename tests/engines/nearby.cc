#include "tests/engines/nearby.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal_util.h"
#include "tests/engines/form.h"

namespace kashi::tests {
namespace {

constexpr uint32_t kNudgedRuns = 8;

// With f32 in the place of f16 or bf16.
absl::StatusOr<Literal> EvaluateWithout(PrimitiveType narrow, const HloModule& module,
                                        const std::vector<Literal>& arguments, const Shape& shape) {
  const std::string text = narrow == BF16
                               ? absl::StrReplaceAll(module.ToString(), {{"bf16[", "f32["}})
                               : absl::StrReplaceAll(module.ToString(), {{"bf16[", "bf16["}, {"f16[", "f32["}});
  KASHI_ASSIGN_OR_RETURN(const auto wide, ReadVerified(text));
  std::vector<Literal> wide_arguments;
  for (const Literal& argument : arguments) {
    const PrimitiveType type = argument.shape().element_type();
    KASHI_ASSIGN_OR_RETURN(Literal converted, argument.Convert(type == narrow ? F32 : type));
    wide_arguments.push_back(std::move(converted));
  }
  KASHI_ASSIGN_OR_RETURN(const Literal result, Evaluate(*wide, wide_arguments));
  Literal rounded(shape);
  KASHI_RETURN_IF_ERROR(
      ShapeUtil::ForEachLeafShapeWithStatus(shape, [&](const Shape& leaf, const ShapeIndex& index) -> absl::Status {
        KASHI_ASSIGN_OR_RETURN(const Literal part, LiteralSlice(result, index).Convert(leaf.element_type()));
        return rounded.CopyFrom(part, index);
      }));
  return rounded;
}

// Adds instructions to the computation of `x`, with the sizes of `x`.
class Around {
 public:
  explicit Around(HloInstruction* x) : x_(x), shape_(x->shape()) {}

  // 0 with the sign of x where x is denormal, x elsewhere.
  HloInstruction* Flushed() {
    const Shape predicate = ShapeUtil::ChangeElementType(shape_, PRED);
    HloInstruction* size = Add(HloInstruction::CreateUnary(shape_, HloOpcode::kAbs, x_));
    const int exponent = primitive_util::UnderflowExponent(shape_.element_type());
    HloInstruction* is_denormal = Add(
        HloInstruction::CreateCompare(predicate, size, Constant(std::ldexp(1.0, exponent)), ComparisonDirection::kLt));
    return Add(HloInstruction::CreateTernary(shape_, HloOpcode::kSelect, is_denormal, Times(0), x_));
  }
  HloInstruction* Times(double factor) {
    return Add(HloInstruction::CreateBinary(shape_, HloOpcode::kMultiply, x_, Constant(factor)));
  }
  // Each element by a factor of its own, within `units` in the last place of 1.
  HloInstruction* TimesUnits(int units, std::minstd_rand& random) {
    const PrimitiveType type = shape_.element_type();
    const double unit = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(type));
    Literal factors(ShapeUtil::MakeShape(F64, shape_.dimensions()));
    for (double& factor : factors.data<double>()) {
      factor = 1 + unit * (static_cast<double>(random() % (2 * units + 1)) - units);
    }
    HloInstruction* constant = Add(HloInstruction::CreateConstant(factors.Convert(type).value()));
    return Add(HloInstruction::CreateBinary(shape_, HloOpcode::kMultiply, x_, constant));
  }

 private:
  HloInstruction* Add(std::unique_ptr<HloInstruction> instruction) {
    return x_->parent()->AddInstruction(std::move(instruction));
  }
  HloInstruction* Constant(double value) {
    HloInstruction* scalar = Add(
        HloInstruction::CreateConstant(LiteralUtil::CreateR0<double>(value).Convert(shape_.element_type()).value()));
    return Add(HloInstruction::CreateBroadcast(shape_, scalar, {}));
  }

  HloInstruction* x_;
  const Shape shape_;
};

bool IsTranscendental(const HloInstruction& x) {
  return GetHloOpcodeInfo(x.opcode()).Has(HloOpcodeFlags::kTranscendental) && x.shape().IsArray() &&
         x.shape().is_static() && primitive_util::IsFloatingPointType(x.shape().element_type());
}

// The compiled engine computes with narrower types in f32. The denormal numbers of bf16 are denormal there, too.
bool HasDenormalsToFlush(PrimitiveType type) { return type == F32 || type == F64 || type == BF16; }

// An operation that the compiled engine may flush the operands and the result of: all that compute.
bool IsArithmetic(const HloInstruction& x) {
  return HloInstruction::IsOpElementwise(x.opcode()) && x.shape().IsArray() && x.shape().is_static() &&
         HasDenormalsToFlush(x.shape().element_type());
}

// How the results of transcendental functions change; those of all arithmetic, where only denormal numbers do.
struct Rounding {
  int units = 0;         // all by this much in the last place, or
  int random_units = 0;  // each element by up to this much: what cancels between elements shows only then
  bool flushes = false;  // denormal numbers are 0
  bool is_only_flush() const { return flushes && units == 0 && random_units == 0; }
  std::minstd_rand random = std::minstd_rand();
};

absl::Status RoundDifferently(HloInstruction* x, Rounding& rounding) {
  const PrimitiveType type = x->shape().element_type();
  const bool flushes = rounding.flushes && HasDenormalsToFlush(type);
  if (flushes) {
    for (int64_t i = 0; i < x->operand_count(); ++i) {
      HloInstruction* operand = x->mutable_operand(i);
      if (operand->shape().element_type() != type || !operand->shape().is_static()) continue;
      KASHI_RETURN_IF_ERROR(operand->ReplaceUseWith(x, static_cast<int>(i), Around(operand).Flushed()));
    }
  }
  const std::vector<HloInstruction*> users(x->users().begin(), x->users().end());
  const bool is_root = x->parent()->root_instruction() == x;
  const double unit = std::ldexp(1.0, 1 - primitive_util::SignificandWidth(type));
  HloInstruction* other = rounding.is_only_flush()    ? x
                          : rounding.random_units > 0 ? Around(x).TimesUnits(rounding.random_units, rounding.random)
                                                      : Around(x).Times(1 + rounding.units * unit);
  if (flushes) other = Around(other).Flushed();
  for (HloInstruction* user : users) KASHI_RETURN_IF_ERROR(x->ReplaceUseWith(user, other));
  if (is_root) x->parent()->set_root_instruction(other);
  return absl::OkStatus();
}

absl::StatusOr<Literal> EvaluateWithOtherRounding(const HloModule& module, const std::vector<Literal>& arguments,
                                                  Rounding rounding) {
  const std::unique_ptr<HloModule> other = module.Clone();
  std::vector<HloInstruction*> found;
  for (HloComputation* computation : other->computations()) {
    for (HloInstruction* x : computation->instructions()) {
      if (IsTranscendental(*x) || (rounding.is_only_flush() && IsArithmetic(*x))) found.push_back(x);
    }
  }
  if (found.empty()) return absl::NotFoundError("nothing that rounds another way");
  for (HloInstruction* x : found) KASHI_RETURN_IF_ERROR(RoundDifferently(x, rounding));
  return Evaluate(*other, arguments);
}

}  // namespace

absl::StatusOr<Literal> Evaluate(const HloModule& module, const std::vector<Literal>& arguments) {
  return HloEvaluator(EvaluationOptions()).Evaluate(module, absl::MakeConstSpan(arguments));
}

NearbyResults EvaluateNearby(const HloModule& module, const std::vector<Literal>& arguments, const Shape& shape,
                             const Exactness& exactness) {
  NearbyResults results;
  const auto add = [&](absl::StatusOr<Literal> result) {
    if (result.ok()) results.push_back(*std::move(result));
  };
  for (const PrimitiveType narrow : {F16, BF16}) add(EvaluateWithout(narrow, module, arguments, shape));
  add(EvaluateWithOtherRounding(module, arguments, {.units = 1}));
  add(EvaluateWithOtherRounding(module, arguments, {.units = -1, .flushes = true}));
  add(EvaluateWithOtherRounding(module, arguments, {.flushes = true}));
  for (uint32_t run = 1; run <= kNudgedRuns; ++run) {
    add(EvaluateWithOtherRounding(module, arguments, {.random_units = 1, .random = std::minstd_rand(run)}));
  }
  for (uint32_t run = 0; run < kNudgedRuns; ++run) {
    std::vector<Literal> nudged;
    for (size_t i = 0; i < arguments.size(); ++i) {
      nudged.push_back(Nudge(arguments[i], exactness, run * 100 + static_cast<uint32_t>(i) + 1));
    }
    add(Evaluate(module, nudged));
  }
  return results;
}

}  // namespace kashi::tests
