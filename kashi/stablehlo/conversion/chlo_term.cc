#include "kashi/stablehlo/conversion/chlo_term.h"

#include <cstring>
#include <limits>

#include "absl/status/statusor.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal_util.h"

namespace kashi::stablehlo {

Term TermScope::Of(HloInstruction* instruction) { return {instruction, this}; }

Term TermScope::Constant(PrimitiveType type, double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  HloInstruction*& constant = constants_[{static_cast<int>(type), bits}];
  if (constant == nullptr) constant = Broadcast(LiteralUtil::CreateR0(type, number)).instruction();
  return Of(constant);
}

Term TermScope::Integer(PrimitiveType type, uint64_t number) { return Broadcast(LiteralUtil::CreateR0(type, number)); }

Term TermScope::Broadcast(Literal scalar) {
  const PrimitiveType type = scalar.shape().element_type();
  HloInstruction* const constant = add_(HloInstruction::CreateConstant(std::move(scalar)));
  if (shape_.dimensions().empty()) return Of(constant);
  return Of(add_(HloInstruction::CreateBroadcast(ShapeUtil::MakeShape(type, shape_.dimensions()), constant, {})));
}

HloInstruction* TermScope::Add(PrimitiveType type, HloOpcode opcode, absl::Span<HloInstruction* const> operands) {
  return add_(HloInstruction::Create(opcode, ShapeUtil::MakeShape(type, shape_.dimensions()), operands));
}

HloInstruction* TermScope::Compare(ComparisonDirection direction, HloInstruction* x, HloInstruction* y) {
  return add_(HloInstruction::CreateCompare(ShapeUtil::MakeShape(PRED, shape_.dimensions()), x, y, direction));
}

Term Abs(Term x) { return Term::Unary(HloOpcode::kAbs, x); }
Term Atan2(Term y, Term x) { return Term::Binary(HloOpcode::kAtan2, y, x); }
Term Cosine(Term x) { return Term::Unary(HloOpcode::kCos, x); }
Term Exponential(Term x) { return Term::Unary(HloOpcode::kExp, x); }
Term ExponentialMinusOne(Term x) { return Term::Unary(HloOpcode::kExpm1, x); }
Term Floor(Term x) { return Term::Unary(HloOpcode::kFloor, x); }
Term Log(Term x) { return Term::Unary(HloOpcode::kLog, x); }
Term LogPlusOne(Term x) { return Term::Unary(HloOpcode::kLog1p, x); }
Term Maximum(Term x, Term y) { return Term::Binary(HloOpcode::kMaximum, x, y); }
Term Minimum(Term x, Term y) { return Term::Binary(HloOpcode::kMinimum, x, y); }
Term Power(Term x, Term y) { return Term::Binary(HloOpcode::kPower, x, y); }
Term Remainder(Term x, Term y) { return Term::Binary(HloOpcode::kRemainder, x, y); }
Term Sign(Term x) { return Term::Unary(HloOpcode::kSign, x); }
Term Sine(Term x) { return Term::Unary(HloOpcode::kSin, x); }
Term Sqrt(Term x) { return Term::Unary(HloOpcode::kSqrt, x); }

Term IsFinite(Term x) { return x.scope().Of(x.scope().Add(PRED, HloOpcode::kIsFinite, {x.instruction()})); }

Term Clamp(double low, Term x, double high) {
  HloInstruction* const operands[] = {x.Same(low).instruction(), x.instruction(), x.Same(high).instruction()};
  return x.scope().Of(x.scope().Add(x.type(), HloOpcode::kClamp, operands));
}

Term Select(Term condition, Term x, Term y) {
  HloInstruction* const operands[] = {condition.instruction(), x.instruction(), y.instruction()};
  return x.scope().Of(x.scope().Add(x.type(), HloOpcode::kSelect, operands));
}

Term Convert(Term x, PrimitiveType type) {
  if (type == x.type()) return x;
  return x.scope().Of(x.scope().Add(type, HloOpcode::kConvert, {x.instruction()}));
}

Term BitcastConvert(Term x, PrimitiveType type) {
  return x.scope().Of(x.scope().Add(type, HloOpcode::kBitcastConvert, {x.instruction()}));
}

Term Real(Term x) {
  const PrimitiveType part = primitive_util::ComplexComponentType(x.type());
  return x.scope().Of(x.scope().Add(part, HloOpcode::kReal, {x.instruction()}));
}

Term Imag(Term x) {
  const PrimitiveType part = primitive_util::ComplexComponentType(x.type());
  return x.scope().Of(x.scope().Add(part, HloOpcode::kImag, {x.instruction()}));
}

Term Complex(Term real, Term imag) {
  const PrimitiveType whole = real.type() == F64 ? C128 : C64;
  return real.scope().Of(real.scope().Add(whole, HloOpcode::kComplex, {real.instruction(), imag.instruction()}));
}

Term Polynomial(Term x, absl::Span<const double> coefficients) {
  Term sum = x.Same(coefficients[0]);
  for (double coefficient : coefficients.subspan(1)) sum = sum * x + coefficient;
  return sum;
}

Term Infinity(Term like) { return like.Same(std::numeric_limits<double>::infinity()); }
Term NotANumber(Term like) { return like.Same(std::numeric_limits<double>::quiet_NaN()); }
Term LargestFinite(Term like) { return like.scope().Broadcast(LiteralUtil::MaxFiniteValue(like.type())); }

}  // namespace kashi::stablehlo
