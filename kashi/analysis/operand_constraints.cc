// Entry point: PassToOperands. The rules of HloOpcodeFlags::Constraint (kashi/hlo/ir/op_rules.def), one function each.
//
// The constraint "positive" is the interval from 0 up, which additions and products keep. The code that draws random
// numbers avoids 0 itself.
#include "kashi/analysis/operand_constraints.h"

#include <algorithm>
#include <cmath>

#include "absl/types/span.h"
#include "kashi/analysis/constraint_rules.h"
#include "kashi/hlo/ir/combiner.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::analysis {

namespace {

bool IsMoveOfAll(const HloInstruction& x) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  const bool keeps_each = info.Has(HloOpcodeFlags::kElementwise) && info.Has(HloOpcodeFlags::kKeepsValues);
  const bool spreads = x.opcode() == HloOpcode::kBroadcast || x.opcode() == HloOpcode::kReshape;
  return (keeps_each || spreads) && x.operand_count() == 1;
}

}  // namespace

const HloInstruction& BeforeMoves(const HloInstruction& value) {
  constexpr int kMostSteps = 16;
  const HloInstruction* x = &value;
  for (int i = 0; i < kMostSteps; ++i) {
    if (!IsMoveOfAll(*x)) return *x;
    x = x->operand(0);
  }
  return *x;
}

std::optional<HloOpcode> Combiner(const HloInstruction& instruction, size_t number) {
  const auto callees = instruction.called_computations();
  return callees.size() > number ? hlo::CombinerOf(*callees[number]) : std::nullopt;
}

namespace {

// ---- From the result to the operands --------------------------------------------------------------------------------

// The part of a constraint that still holds for the operand of an operation that moves or broadcasts elements.
ValueConstraint Moved(const HloInstruction& move, const HloInstruction& operand, ValueConstraint constraint) {
  const bool same = operand.shape().dimensions() == move.shape().dimensions();
  constraint.is_dominant &= same || move.opcode() == HloOpcode::kTranspose;
  constraint.is_sorted &= same || move.opcode() == HloOpcode::kReshape || move.opcode() == HloOpcode::kBitcast;
  constraint.no_duplicates &= move.opcode() != HloOpcode::kBroadcast;
  constraint.any_bits &= IsInteger(operand);
  return constraint;
}
void PassMoved(const HloInstruction& move, absl::Span<const int64_t> numbers, const ValueConstraint& constraint,
               ConstraintSink sink) {
  for (const int64_t number : numbers) {
    if (const HloInstruction* operand = Operand(move, number))
      Send(move, number, Moved(move, *operand, constraint), sink);
  }
}

// a + b in [min, max].
void PassTerms(const HloInstruction& sum, const ValueConstraint& constraint, ConstraintSink sink) {
  if (constraint.is_dominant) SendToAll(sum, constraint, sink);
  if (!IsBounded(constraint) || sum.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(sum, i)) {
      const bool stays_positive = IsReal(sum) && constraint.min == 0 && *c >= 0;
      return Send(sum, 1 - i, WithInterval(constraint, stays_positive ? 0 : constraint.min - *c, constraint.max - *c),
                  sink);
    }
  }
  if (constraint.min < 0) return;
  const double largest = IsInteger(sum) ? std::floor(constraint.max / 2) : constraint.max / 2;
  SendToAll(sum, WithInterval(constraint, constraint.min == 0 ? 0 : constraint.min / 2, largest), sink);
}

void PassDifference(const HloInstruction& difference, const ValueConstraint& constraint, ConstraintSink sink) {
  if (!IsBounded(constraint)) return;
  if (const std::optional<double> c = ConstantOperand(difference, 1)) {
    return Send(difference, 0, WithInterval(constraint, constraint.min + *c, constraint.max + *c), sink);
  }
  if (const std::optional<double> c = ConstantOperand(difference, 0)) {
    Send(difference, 1, WithInterval(constraint, *c - constraint.max, *c - constraint.min), sink);
  }
}

// x times `factor` in [min, max].
ValueConstraint DividedBy(const ValueConstraint& constraint, double factor, bool is_integer) {
  double low = constraint.min / factor;
  double high = constraint.max / factor;
  if (factor < 0) std::swap(low, high);
  return WithInterval(constraint, is_integer ? std::ceil(low) : low, is_integer ? std::floor(high) : high);
}

void PassFactors(const HloInstruction& product, const ValueConstraint& constraint, ConstraintSink sink) {
  if (constraint.is_dominant) SendToAll(product, constraint, sink);
  if (!IsBounded(constraint) || product.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(product, i)) {
      if (*c != 0 && std::isfinite(*c)) Send(product, 1 - i, DividedBy(constraint, *c, IsInteger(product)), sink);
      return;
    }
  }
  if (constraint.min < 0 || product.operand(0) == product.operand(1)) return;  // a square is positive
  const double largest = std::sqrt(constraint.max);
  SendToAll(product,
            WithInterval(constraint, std::sqrt(constraint.min), IsInteger(product) ? std::floor(largest) : largest),
            sink);
}

void PassQuotient(const HloInstruction& quotient, const ValueConstraint& constraint, ConstraintSink sink) {
  if (constraint.is_dominant) Send(quotient, 0, constraint, sink);
  if (!IsBounded(constraint)) return;
  const std::optional<double> c = ConstantOperand(quotient, 1);
  if (!c.has_value()) {
    if (constraint.min == 0) Send(quotient, 0, WithInterval(constraint, 0, kUnbounded), sink);
    return;
  }
  if (*c == 0 || !std::isfinite(*c)) return;
  ValueConstraint dividend = DividedBy(constraint, 1 / *c, /*is_integer=*/false);
  if (IsInteger(quotient) && *c > 0)
    dividend = WithInterval(constraint, constraint.min * *c, constraint.max * *c + (*c - 1));
  Send(quotient, 0, dividend, sink);
}

// If a constant operand of a maximum ensures the lower bound, the other operand needs none.
void PassExtremum(const HloInstruction& extremum, const ValueConstraint& constraint, ConstraintSink sink) {
  if (!IsBounded(constraint)) return;
  ValueConstraint rest = constraint;
  for (int64_t i = 0; i < extremum.operand_count(); ++i) {
    const std::optional<double> c = ConstantOperand(extremum, i);
    if (!c.has_value()) continue;
    if (extremum.opcode() == HloOpcode::kMaximum && *c >= constraint.min) rest.min = -kUnbounded;
    if (extremum.opcode() == HloOpcode::kMinimum && *c <= constraint.max) rest.max = kUnbounded;
  }
  if (IsBounded(rest)) SendToAll(extremum, rest, sink);
}

// Reductions over dimensions, windows or devices.
void PassReduced(const HloInstruction& reduction, const ValueConstraint& constraint, ConstraintSink sink) {
  if (!IsBounded(constraint)) return;
  const HloOpcode combiner = Combiner(reduction).value_or(HloOpcode::kTuple);
  if (combiner == HloOpcode::kMaximum || combiner == HloOpcode::kMinimum) return Send(reduction, 0, constraint, sink);
  const bool keeps_sign = combiner == HloOpcode::kAdd || combiner == HloOpcode::kMultiply;
  if (keeps_sign && constraint.min >= 0) Send(reduction, 0, WithInterval(constraint, 0, kUnbounded), sink);
}

// A loop runs while one operand is smaller than the other. The constraints keep the number of iterations small.
void PassToLoopComparison(const HloInstruction& compare, const ValueConstraint& constraint, ConstraintSink sink) {
  constexpr double kFew = 8;
  if (compare.operand_count() != 2 || !compare.fields().Has(HloField::comparison_direction)) return;
  const ComparisonDirection direction = compare.comparison_direction();
  if (direction == ComparisonDirection::kEq) return;
  const bool is_reversed = direction == ComparisonDirection::kGt || direction == ComparisonDirection::kGe;
  const int64_t smaller = is_reversed ? 1 : 0;
  ValueConstraint bounds = ConstraintFrom(*constraint.user);
  const auto send = [&](int64_t number, double min, double max) {
    Send(compare, number, WithInterval(bounds, min, max), sink);
  };
  if (IsReal(*compare.operand(0))) {
    send(smaller, 0.1, 0.5);
    return send(1 - smaller, 1, 2);
  }
  if (!IsInteger(*compare.operand(0))) return;
  const std::optional<double> low = ConstantOperand(compare, smaller);
  const std::optional<double> high = ConstantOperand(compare, 1 - smaller);
  if (high.has_value()) {
    send(smaller, *high >= 0 ? std::max(0.0, *high - kFew) : *high - kFew, *high);
  } else {
    if (!low.has_value()) send(smaller, 0, 1);
    send(1 - smaller, low.value_or(0) + kFew / 2, low.value_or(0) + kFew);
  }
}

void PassLoopPredicate(const HloInstruction& predicate, const ValueConstraint& constraint, ConstraintSink sink) {
  if (predicate.opcode() == HloOpcode::kCompare) return PassToLoopComparison(predicate, constraint, sink);
  const bool combines = predicate.opcode() == HloOpcode::kAnd || predicate.opcode() == HloOpcode::kOr;
  const HloOpcodeInfo& info = GetHloOpcodeInfo(predicate.opcode());
  const bool is_move = info.Has(HloOpcodeFlags::kKeepsValues) && info.constraint == HloOpcodeFlags::Constraint::kFirst;
  if (combines || is_move) SendToAll(predicate, constraint, sink);
}

// ---- Rules of op_rules.def that fit on one line ---------------------------------------------------------------------

void PassDefault(const HloInstruction&, const ValueConstraint&, ConstraintSink) {}

void PassFirst(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  PassMoved(x, {0}, constraint, sink);
}
void PassFirstTwo(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  PassMoved(x, {0, 1}, constraint, sink);
}
void PassAll(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  for (int64_t i = 0; i < x.operand_count(); ++i) PassMoved(x, {i}, constraint, sink);
}
void PassScatter(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  if (x.operand_count() == 3) PassMoved(x, {0, 2}, constraint, sink);
}
void PassCases(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  PassMoved(x, {1, 2}, constraint, sink);
}
void PassClamped(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  PassMoved(x, {1}, constraint, sink);
}
void PassNegated(const HloInstruction& x, const ValueConstraint& constraint, ConstraintSink sink) {
  if (IsBounded(constraint)) Send(x, 0, WithInterval(constraint, -constraint.max, -constraint.min), sink);
}

}  // namespace

std::optional<double> ConstantNumber(const HloInstruction& instruction) {
  const HloInstruction& value = BeforeMoves(instruction);
  if (value.opcode() != HloOpcode::kConstant || !value.shape().IsArray()) return std::nullopt;
  const SharedLiteral* literal = value.fields().Find<HloField::literal>();
  if (literal == nullptr || !*literal || literal->is_elided() || !(*literal)->IsAllFirst()) return std::nullopt;
  if (const std::optional<int64_t> integer = (*literal)->GetFirstInteger()) return static_cast<double>(*integer);
  return (*literal)->GetAsDouble(DimensionVector(value.shape().rank(), 0));
}

ValueConstraint Meet(const ValueConstraint& first, const ValueConstraint& second, bool is_integer) {
  if (first.is_free()) return second;
  if (second.is_free()) return first;
  const bool second_wins = second.is_index && !first.is_index;
  const ValueConstraint& strong = second_wins ? second : first;
  const ValueConstraint& weak = second_wins ? first : second;
  ValueConstraint both = strong;
  const double min = std::max(strong.min, weak.min);
  const double max = std::min(strong.max, weak.max);
  const bool may_be_point = is_integer || strong.min == strong.max || weak.min == weak.max;
  if (min < max || (min == max && may_be_point)) {
    both.min = min;
    both.max = max;
  }
  both.any_bits |= weak.any_bits;
  both.no_duplicates |= weak.no_duplicates;
  both.is_sorted |= weak.is_sorted;
  both.is_dominant |= weak.is_dominant;
  both.continues_loop |= weak.continues_loop;
  if (!both.value.has_value()) both.value = weak.value;
  return both;
}

void PassToOperands(const HloInstruction& instruction, const ValueConstraint& constraint, ConstraintSink sink) {
  static constexpr void (*kRules[])(const HloInstruction&, const ValueConstraint&, ConstraintSink) = {
      &PassDefault,
#define KASHI_CONSTRAINT_RULE(name) &Pass##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  if (constraint.continues_loop) return PassLoopPredicate(instruction, constraint, sink);
  kRules[static_cast<size_t>(GetHloOpcodeInfo(instruction.opcode()).constraint)](instruction, constraint, sink);
}

}  // namespace kashi::analysis
