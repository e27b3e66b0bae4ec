// Entry point: HandToOperands. The rules of HloOpcodeFlags::Hands (kashi/hlo/ir/op_rules.def), one function each.
//
// A wish "positive" is the interval from 0 up: it stays that when it goes through additions and products. Code that
// draws numbers keeps away from 0 itself.
#include "kashi/analysis/operand_constraints.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/analysis/constraint_rules.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {

namespace {

bool IsMoveOfAll(const HloInstruction& x) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(x.opcode());
  const bool keeps_each = info.Has(HloOpcodeFlags::kElementwise) && info.Has(HloOpcodeFlags::kKeepsValues);
  const bool spreads = x.opcode() == HloOpcode::kBroadcast || x.opcode() == HloOpcode::kReshape;
  return (keeps_each || spreads) && x.operand_count() == 1;
}

}  // namespace

const HloInstruction& BehindMoves(const HloInstruction& value) {
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
  if (callees.size() <= number || callees[number]->num_parameters() != 2) return std::nullopt;
  const HloInstruction* root = callees[number]->root_instruction();
  const bool combines = root != nullptr && root->operand_count() == 2 &&
                        absl::c_all_of(root->operands(), [](const HloInstruction* operand) {
                          return operand->opcode() == HloOpcode::kParameter;
                        });
  if (!combines) return std::nullopt;
  return root->opcode();
}

namespace {

// ---- What a result means for operands -------------------------------------------------------------------------------

// What remains of a wish behind an operation that moves elements, or spreads them.
ValueConstraint Moved(const HloInstruction& move, const HloInstruction& operand, ValueConstraint wish) {
  const bool same = operand.shape().dimensions() == move.shape().dimensions();
  wish.is_dominant &= same || move.opcode() == HloOpcode::kTranspose;
  wish.is_sorted &= same || move.opcode() == HloOpcode::kReshape || move.opcode() == HloOpcode::kBitcast;
  wish.no_duplicates &= move.opcode() != HloOpcode::kBroadcast;
  wish.any_bits &= IsInteger(operand);
  return wish;
}
void HandMoved(const HloInstruction& move, absl::Span<const int64_t> numbers, const ValueConstraint& wish,
               ConstraintSink sink) {
  for (const int64_t number : numbers) {
    if (const HloInstruction* operand = Operand(move, number)) Send(move, number, Moved(move, *operand, wish), sink);
  }
}

// a + b in [min, max].
void HandTerms(const HloInstruction& sum, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) SendToAll(sum, wish, sink);
  if (!IsBounded(wish) || sum.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(sum, i)) {
      const bool stays_positive = IsReal(sum) && wish.min == 0 && *c >= 0;
      return Send(sum, 1 - i, WithInterval(wish, stays_positive ? 0 : wish.min - *c, wish.max - *c), sink);
    }
  }
  if (wish.min < 0) return;
  const double largest = IsInteger(sum) ? std::floor(wish.max / 2) : wish.max / 2;
  SendToAll(sum, WithInterval(wish, wish.min == 0 ? 0 : wish.min / 2, largest), sink);
}

void HandDifference(const HloInstruction& difference, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  if (const std::optional<double> c = ConstantOperand(difference, 1)) {
    return Send(difference, 0, WithInterval(wish, wish.min + *c, wish.max + *c), sink);
  }
  if (const std::optional<double> c = ConstantOperand(difference, 0)) {
    Send(difference, 1, WithInterval(wish, *c - wish.max, *c - wish.min), sink);
  }
}

// x times `factor` in [min, max].
ValueConstraint DividedBy(const ValueConstraint& wish, double factor, bool is_integer) {
  double low = wish.min / factor;
  double high = wish.max / factor;
  if (factor < 0) std::swap(low, high);
  return WithInterval(wish, is_integer ? std::ceil(low) : low, is_integer ? std::floor(high) : high);
}

void HandFactors(const HloInstruction& product, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) SendToAll(product, wish, sink);
  if (!IsBounded(wish) || product.operand_count() != 2) return;
  for (int64_t i = 0; i < 2; ++i) {
    if (const std::optional<double> c = ConstantOperand(product, i)) {
      if (*c != 0 && std::isfinite(*c)) Send(product, 1 - i, DividedBy(wish, *c, IsInteger(product)), sink);
      return;
    }
  }
  if (wish.min < 0 || product.operand(0) == product.operand(1)) return;  // a square is positive
  const double largest = std::sqrt(wish.max);
  SendToAll(product, WithInterval(wish, std::sqrt(wish.min), IsInteger(product) ? std::floor(largest) : largest), sink);
}

void HandQuotient(const HloInstruction& quotient, const ValueConstraint& wish, ConstraintSink sink) {
  if (wish.is_dominant) Send(quotient, 0, wish, sink);
  if (!IsBounded(wish)) return;
  const std::optional<double> c = ConstantOperand(quotient, 1);
  if (!c.has_value()) {
    if (wish.min == 0) Send(quotient, 0, WithInterval(wish, 0, kUnbounded), sink);
    return;
  }
  if (*c == 0 || !std::isfinite(*c)) return;
  ValueConstraint dividend = DividedBy(wish, 1 / *c, /*is_integer=*/false);
  if (IsInteger(quotient) && *c > 0) dividend = WithInterval(wish, wish.min * *c, wish.max * *c + (*c - 1));
  Send(quotient, 0, dividend, sink);
}

// The operands of a maximum whose constant already sees to the lower bound need not.
void HandExtremum(const HloInstruction& extremum, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  ValueConstraint rest = wish;
  for (int64_t i = 0; i < extremum.operand_count(); ++i) {
    const std::optional<double> c = ConstantOperand(extremum, i);
    if (!c.has_value()) continue;
    if (extremum.opcode() == HloOpcode::kMaximum && *c >= wish.min) rest.min = -kUnbounded;
    if (extremum.opcode() == HloOpcode::kMinimum && *c <= wish.max) rest.max = kUnbounded;
  }
  if (IsBounded(rest)) SendToAll(extremum, rest, sink);
}

// Of reductions, over dimensions, windows or devices.
void HandReduced(const HloInstruction& reduction, const ValueConstraint& wish, ConstraintSink sink) {
  if (!IsBounded(wish)) return;
  const HloOpcode combiner = Combiner(reduction).value_or(HloOpcode::kTuple);
  if (combiner == HloOpcode::kMaximum || combiner == HloOpcode::kMinimum) return Send(reduction, 0, wish, sink);
  const bool keeps_sign = combiner == HloOpcode::kAdd || combiner == HloOpcode::kMultiply;
  if (keeps_sign && wish.min >= 0) Send(reduction, 0, WithInterval(wish, 0, kUnbounded), sink);
}

// A loop goes on while the smaller one is smaller: few times.
void HandToLoopComparison(const HloInstruction& compare, const ValueConstraint& wish, ConstraintSink sink) {
  constexpr double kFew = 8;
  if (compare.operand_count() != 2 || !compare.fields().Has(HloField::comparison_direction)) return;
  const ComparisonDirection direction = compare.comparison_direction();
  if (direction == ComparisonDirection::kEq) return;
  const bool is_reversed = direction == ComparisonDirection::kGt || direction == ComparisonDirection::kGe;
  const int64_t smaller = is_reversed ? 1 : 0;
  ValueConstraint bounds = WishOf(*wish.user);
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

void HandLoopPredicate(const HloInstruction& predicate, const ValueConstraint& wish, ConstraintSink sink) {
  if (predicate.opcode() == HloOpcode::kCompare) return HandToLoopComparison(predicate, wish, sink);
  const bool combines = predicate.opcode() == HloOpcode::kAnd || predicate.opcode() == HloOpcode::kOr;
  const HloOpcodeInfo& info = GetHloOpcodeInfo(predicate.opcode());
  const bool is_move = info.Has(HloOpcodeFlags::kKeepsValues) && info.hands == HloOpcodeFlags::Hands::kFirst;
  if (combines || is_move) SendToAll(predicate, wish, sink);
}

// ---- Rules of op_rules.def that need no more than a line ------------------------------------------------------------

void HandDefault(const HloInstruction&, const ValueConstraint&, ConstraintSink) {}

void HandFirst(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  HandMoved(x, {0}, wish, sink);
}
void HandFirstTwo(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  HandMoved(x, {0, 1}, wish, sink);
}
void HandAll(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  for (int64_t i = 0; i < x.operand_count(); ++i) HandMoved(x, {i}, wish, sink);
}
void HandScatter(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  if (x.operand_count() == 3) HandMoved(x, {0, 2}, wish, sink);
}
void HandCases(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  HandMoved(x, {1, 2}, wish, sink);
}
void HandClamped(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  HandMoved(x, {1}, wish, sink);
}
void HandNegated(const HloInstruction& x, const ValueConstraint& wish, ConstraintSink sink) {
  if (IsBounded(wish)) Send(x, 0, WithInterval(wish, -wish.max, -wish.min), sink);
}

}  // namespace

std::optional<double> ConstantNumber(const HloInstruction& instruction) {
  const HloInstruction& value = BehindMoves(instruction);
  if (value.opcode() != HloOpcode::kConstant || !value.shape().IsArray()) return std::nullopt;
  const SharedLiteral* literal = value.fields().Find<HloField::literal>();
  if (literal == nullptr || !*literal || literal->is_elided() || !(*literal)->IsAllFirst()) return std::nullopt;
  if (const std::optional<int64_t> integer = (*literal)->GetFirstInteger()) return static_cast<double>(*integer);
  return (*literal)->GetAsDouble(DimensionVector(value.shape().rank(), 0));
}

ValueConstraint Meet(const ValueConstraint& first, const ValueConstraint& second) {
  if (first.is_free()) return second;
  if (second.is_free()) return first;
  const bool second_wins = second.is_index && !first.is_index;
  const ValueConstraint& strong = second_wins ? second : first;
  const ValueConstraint& weak = second_wins ? first : second;
  ValueConstraint both = strong;
  const double min = std::max(strong.min, weak.min);
  const double max = std::min(strong.max, weak.max);
  if (min <= max) {
    both.min = min;
    both.max = max;
  } else if (strong.is_index == weak.is_index && strong.max < 0 && weak.max >= 0) {
    both.min = weak.min;  // of `i < 0 ? i + size : i`
    both.max = weak.max;
  }
  both.any_bits |= weak.any_bits;
  both.no_duplicates |= weak.no_duplicates;
  both.is_sorted |= weak.is_sorted;
  both.is_dominant |= weak.is_dominant;
  both.continues_loop |= weak.continues_loop;
  if (!both.value.has_value()) both.value = weak.value;
  return both;
}

bool SameWish(const ValueConstraint& a, const ValueConstraint& b) {
  return a.min == b.min && a.max == b.max && a.is_index == b.is_index && a.any_bits == b.any_bits &&
         a.no_duplicates == b.no_duplicates && a.is_sorted == b.is_sorted && a.is_dominant == b.is_dominant &&
         a.continues_loop == b.continues_loop && a.value == b.value && a.user == b.user;
}

void HandToOperands(const HloInstruction& instruction, const ValueConstraint& wish, ConstraintSink sink) {
  static constexpr void (*kRules[])(const HloInstruction&, const ValueConstraint&, ConstraintSink) = {
      &HandDefault,
#define KASHI_HANDS_RULE(name) &Hand##name,
#include "kashi/hlo/ir/op_rules.def"
  };
  if (wish.continues_loop) return HandLoopPredicate(instruction, wish, sink);
  kRules[static_cast<size_t>(GetHloOpcodeInfo(instruction.opcode()).hands)](instruction, wish, sink);
}

}  // namespace kashi::internal
