// Formulas over arrays, written like formulas over numbers: each operator adds one elementwise instruction.
//
//   Term x = scope.Of(operand);
//   Term y = Select(Abs(x) < 1, x * x, Log(x) + 0.5);      // abs, compare, multiply, log, add, select; and constants
//
// All terms of one scope have the same dimensions. A number in a formula becomes a scalar constant, of the type of the
// other operand, and its broadcast; equal numbers share one constant. Nothing is folded.
#ifndef KASHI_STABLEHLO_CONVERSION_CHLO_TERM_H_
#define KASHI_STABLEHLO_CONVERSION_CHLO_TERM_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::stablehlo {

// Adds an instruction to the computation under construction, which then owns it.
using InstructionAdder = absl::FunctionRef<HloInstruction*(std::unique_ptr<HloInstruction>)>;

class Term;

// Receives the instructions of formulas. Must outlive its terms.
class TermScope {
 public:
  // Pre: all terms have the dimensions of `shape`, an array of static sizes.
  TermScope(const Shape& shape, InstructionAdder add) : shape_(shape), add_(add) {}
  TermScope(const TermScope&) = delete;
  TermScope& operator=(const TermScope&) = delete;

  Term Of(HloInstruction* instruction);
  // The number as this type: rounded, wrapped, or with imaginary part 0.
  Term Constant(PrimitiveType type, double number);
  // The bits of `number` as a signed or unsigned integer type of up to 64 bits.
  Term Integer(PrimitiveType type, uint64_t number);
  // The value of the scalar constant at each element.
  Term Broadcast(Literal scalar);
  HloInstruction* Add(PrimitiveType type, HloOpcode opcode, absl::Span<HloInstruction* const> operands);
  HloInstruction* Compare(ComparisonDirection direction, HloInstruction* x, HloInstruction* y);

 private:
  const Shape& shape_;
  InstructionAdder add_;
  // By type and the bits of the number.
  absl::flat_hash_map<std::pair<int, uint64_t>, HloInstruction*> constants_;
};

class Term {
 public:
  Term(HloInstruction* instruction, TermScope* scope) : instruction_(instruction), scope_(scope) {}

  HloInstruction* instruction() const { return instruction_; }
  TermScope& scope() const { return *scope_; }
  PrimitiveType type() const { return instruction_->shape().element_type(); }
  // The number as the type of this term.
  Term Same(double number) const { return scope_->Constant(type(), number); }

  friend Term operator+(Term x, Term y) { return Binary(HloOpcode::kAdd, x, y); }
  friend Term operator-(Term x, Term y) { return Binary(HloOpcode::kSubtract, x, y); }
  friend Term operator*(Term x, Term y) { return Binary(HloOpcode::kMultiply, x, y); }
  friend Term operator/(Term x, Term y) { return Binary(HloOpcode::kDivide, x, y); }
  friend Term operator+(Term x, double y) { return x + x.Same(y); }
  friend Term operator-(Term x, double y) { return x - x.Same(y); }
  friend Term operator*(Term x, double y) { return x * x.Same(y); }
  friend Term operator/(Term x, double y) { return x / x.Same(y); }
  friend Term operator+(double x, Term y) { return y.Same(x) + y; }
  friend Term operator-(double x, Term y) { return y.Same(x) - y; }
  friend Term operator*(double x, Term y) { return y.Same(x) * y; }
  friend Term operator/(double x, Term y) { return y.Same(x) / y; }
  friend Term operator-(Term x) { return Unary(HloOpcode::kNegate, x); }

  // Logical for predicates, bitwise for integers.
  friend Term operator&(Term x, Term y) { return Binary(HloOpcode::kAnd, x, y); }
  friend Term operator|(Term x, Term y) { return Binary(HloOpcode::kOr, x, y); }
  friend Term operator!(Term x) { return Unary(HloOpcode::kNot, x); }

  friend Term operator<(Term x, Term y) { return Comparison(ComparisonDirection::kLt, x, y); }
  friend Term operator<=(Term x, Term y) { return Comparison(ComparisonDirection::kLe, x, y); }
  friend Term operator>(Term x, Term y) { return Comparison(ComparisonDirection::kGt, x, y); }
  friend Term operator>=(Term x, Term y) { return Comparison(ComparisonDirection::kGe, x, y); }
  friend Term operator<(Term x, double y) { return x < x.Same(y); }
  friend Term operator<=(Term x, double y) { return x <= x.Same(y); }
  friend Term operator>(Term x, double y) { return x > x.Same(y); }
  friend Term operator>=(Term x, double y) { return x >= x.Same(y); }
  friend Term Equal(Term x, Term y) { return Comparison(ComparisonDirection::kEq, x, y); }
  friend Term NotEqual(Term x, Term y) { return Comparison(ComparisonDirection::kNe, x, y); }
  friend Term Equal(Term x, double y) { return Equal(x, x.Same(y)); }

  // Operations whose result has the type of the first operand.
  static Term Unary(HloOpcode opcode, Term x) { return {x.scope_->Add(x.type(), opcode, {x.instruction_}), x.scope_}; }
  static Term Binary(HloOpcode opcode, Term x, Term y) {
    return {x.scope_->Add(x.type(), opcode, {x.instruction_, y.instruction_}), x.scope_};
  }

 private:
  static Term Comparison(ComparisonDirection direction, Term x, Term y) {
    return {x.scope_->Compare(direction, x.instruction_, y.instruction_), x.scope_};
  }

  HloInstruction* instruction_;
  TermScope* scope_;
};

Term Abs(Term x);
Term Atan2(Term y, Term x);
Term Cosine(Term x);
Term Exponential(Term x);
Term ExponentialMinusOne(Term x);
Term Floor(Term x);
Term IsFinite(Term x);
Term Log(Term x);
Term LogPlusOne(Term x);
Term Maximum(Term x, Term y);
Term Minimum(Term x, Term y);
Term Power(Term x, Term y);
Term Remainder(Term x, Term y);
Term Sign(Term x);
Term Sine(Term x);
Term Sqrt(Term x);
Term Clamp(double low, Term x, double high);
Term Select(Term condition, Term x, Term y);
Term Convert(Term x, PrimitiveType type);
Term BitcastConvert(Term x, PrimitiveType type);
Term Real(Term x);  // of a complex number
Term Imag(Term x);
Term Complex(Term real, Term imag);

// c[0] x^n + … + c[n], by Horner's rule.
Term Polynomial(Term x, absl::Span<const double> coefficients);

Term Infinity(Term like);  // in the type of `like`; NaN where the type has no infinity
Term NotANumber(Term like);
Term LargestFinite(Term like);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_CHLO_TERM_H_
