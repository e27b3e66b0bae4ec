#include "kashi/evaluator/while_loop_pattern.h"

#include <algorithm>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/partial_evaluation.h"
#include "kashi/evaluator/value_source.h"
#include "kashi/hlo/ir/hlo_computation.h"

namespace kashi {

using evaluator::EvaluationRun;
using evaluator::PartialEvaluation;
using evaluator::PlaceInCalls;
using evaluator::SourceOf;
namespace {

// Iterations of loops that must run before the numbers of this one are known.
constexpr int64_t kMaxIterationsOfOthers = 10000;

std::optional<PlaceInCalls> ResolveOperand(const PlaceInCalls& of, int64_t i) {
  return SourceOf({{of.part.instruction->operand(i), {}}, of.calls});
}

std::optional<PlaceInCalls> ResolveRoot(const HloComputation& computation, ShapeIndex index = {}) {
  return SourceOf({{computation.root_instruction(), std::move(index)}, {}});
}

// The index of the state element (of the one parameter of a condition or body) at this place; -1: it is not one.
int64_t StateElementOf(const std::optional<PlaceInCalls>& place) {
  if (!place.has_value() || place->part.instruction->opcode() != HloOpcode::kParameter) return -1;
  return place->calls.empty() && place->part.index.size() == 1 ? place->part.index[0] : -1;
}

// A value that is the same in each iteration. An element of the state that the body does not change has the value
// that it had before the loop.
PartOfInstruction BeforeLoop(const HloInstruction& loop, const PlaceInCalls& place) {
  const int64_t element = StateElementOf(place);
  if (element >= 0 && IsInvariant(loop, element)) return {loop.operand(0), {element}};
  return place.part;
}

// i + step, step + i, i - step
bool MatchStep(const HloInstruction& loop, WhileLoopPattern* pattern) {
  const std::optional<PlaceInCalls> next = ResolveRoot(*loop.while_body(), {pattern->induction_index});
  if (!next.has_value()) return false;
  if (!pattern->direction.has_value()) {
    pattern->step = BeforeLoop(loop, *next);
    return true;
  }
  const HloOpcode opcode = next->part.instruction->opcode();
  if (opcode != HloOpcode::kAdd && opcode != HloOpcode::kSubtract) return false;
  std::optional<PlaceInCalls> lhs = ResolveOperand(*next, 0), rhs = ResolveOperand(*next, 1);
  if (opcode == HloOpcode::kAdd && StateElementOf(lhs) != pattern->induction_index) std::swap(lhs, rhs);
  if (StateElementOf(lhs) != pattern->induction_index || !rhs.has_value()) return false;
  pattern->step = BeforeLoop(loop, *rhs);
  pattern->counts_down = opcode == HloOpcode::kSubtract;
  return true;
}

// i < bound, bound > i, …
bool MatchComparison(const HloInstruction& loop, const PlaceInCalls& compare, WhileLoopPattern* pattern) {
  ComparisonDirection direction = compare.part.instruction->comparison_direction();
  std::optional<PlaceInCalls> i = ResolveOperand(compare, 0), bound = ResolveOperand(compare, 1);
  if (StateElementOf(i) < 0 || IsInvariant(loop, StateElementOf(i))) {
    std::swap(i, bound);
    direction = Comparison(direction, S64).Converse().GetDirection();
  }
  if (StateElementOf(i) < 0 || !bound.has_value()) return false;
  pattern->induction_index = StateElementOf(i);
  pattern->direction = direction;
  pattern->bound = BeforeLoop(loop, *bound);
  return true;
}

std::pair<__int128, __int128> RangeOf(PrimitiveType type) {
  const int bits = primitive_util::BitWidth(type);
  if (primitive_util::IsUnsignedIntegralType(type)) return {0, (static_cast<__int128>(1) << bits) - 1};
  const __int128 half = static_cast<__int128>(1) << (bits - 1);
  return {-half, half - 1};
}

// A number of the type, whose bits are kept as those of an S64.
__int128 WideOf(PrimitiveType type, int64_t number) {
  return type == U64 ? static_cast<__int128>(static_cast<uint64_t>(number)) : number;
}

// The number of times that `i direction bound` holds for i = 0, step, 2 step, …; -1: always.
__int128 CountSteps(ComparisonDirection direction, __int128 bound, __int128 step) {
  switch (direction) {
    case ComparisonDirection::kLe:
      return CountSteps(ComparisonDirection::kLt, bound + 1, step);
    case ComparisonDirection::kGt:
      return CountSteps(ComparisonDirection::kLt, -bound, -step);
    case ComparisonDirection::kGe:
      return CountSteps(ComparisonDirection::kLt, -bound + 1, -step);
    case ComparisonDirection::kLt:
      if (bound <= 0) return 0;
      return step > 0 ? (bound + step - 1) / step : -1;
    case ComparisonDirection::kNe:
      if (bound == 0) return 0;
      return step != 0 && bound % step == 0 && bound / step > 0 ? bound / step : -1;
    case ComparisonDirection::kEq:
      if (bound != 0) return 0;
      return step != 0 ? 1 : -1;
  }
  return -1;
}

// A PRED that the body makes false counts to 1.
std::optional<ParsedStaticWhileLoop> CountPred(int64_t index, bool init, bool next) {
  if (init && next) return std::nullopt;
  const int64_t count = init ? 1 : 0;
  return ParsedStaticWhileLoop{count, index, 0, 1, count};
}

}  // namespace

bool IsInvariant(const HloInstruction& loop, int64_t i) {
  return StateElementOf(ResolveRoot(*loop.while_body(), {i})) == i;
}

std::optional<WhileLoopPattern> MatchWhileLoop(const HloInstruction& loop) {
  const std::optional<PlaceInCalls> goes_on = ResolveRoot(*loop.while_condition());
  if (!goes_on.has_value()) return std::nullopt;
  WhileLoopPattern pattern;
  if (goes_on->part.instruction->opcode() == HloOpcode::kCompare) {
    if (!MatchComparison(loop, *goes_on, &pattern)) return std::nullopt;
  } else {
    if (StateElementOf(goes_on) < 0) return std::nullopt;
    pattern.induction_index = StateElementOf(goes_on);
    pattern.bound = goes_on->part;
  }
  pattern.init = {loop.operand(0), {pattern.induction_index}};
  const Shape& shape = ShapeUtil::GetSubshape(loop.shape(), {pattern.induction_index});
  const bool counts = pattern.direction.has_value() ? primitive_util::IsIntegralType(shape.element_type())
                                                    : shape.element_type() == PRED;
  if (!counts || !ShapeUtil::IsScalar(shape) || !MatchStep(loop, &pattern)) return std::nullopt;
  return pattern;
}

std::optional<ParsedStaticWhileLoop> CountIterations(const WhileLoopPattern& pattern, PrimitiveType type, int64_t init,
                                                     int64_t bound, int64_t step) {
  if (!pattern.direction.has_value()) return CountPred(pattern.induction_index, init != 0, step != 0);
  const __int128 first = WideOf(type, init), change = pattern.counts_down ? -WideOf(type, step) : WideOf(type, step);
  const __int128 count = CountSteps(*pattern.direction, WideOf(type, bound) - first, change);
  if (count < 0 || count > INT64_MAX) return std::nullopt;
  const __int128 last = first + count * change;
  const auto [lowest, highest] = RangeOf(type);
  if (last < lowest || last > highest) return std::nullopt;
  return ParsedStaticWhileLoop{static_cast<int64_t>(count), pattern.induction_index, init, static_cast<int64_t>(change),
                               bound};
}

std::optional<ParsedWhileLoop> PatternMatchParseWhileLoop(const HloInstruction* while_op, PrecomputedAnalyses) {
  EvaluationOptions options;
  options.max_loop_iterations = kMaxIterationsOfOthers;
  EvaluationRun run(options);
  return PatternMatchParseWhileLoop(*while_op, &run);
}

std::optional<ParsedWhileLoop> PatternMatchParseWhileLoop(const HloInstruction& loop, EvaluationRun* run) {
  if (loop.opcode() != HloOpcode::kWhile) return std::nullopt;
  const std::optional<WhileLoopPattern> pattern = MatchWhileLoop(loop);
  if (!pattern.has_value()) return std::nullopt;
  PartialEvaluation evaluation(run, {}, /*goes_deep=*/true);
  std::vector<std::optional<int64_t>> numbers;
  for (const PartOfInstruction& part : PartialEvaluation::NumbersOf(*pattern)) {
    absl::StatusOr<Value> value = evaluation.Evaluate(part);
    if (!value.ok()) return std::nullopt;
    numbers.push_back(PartialEvaluation::NumberIn(*value));
  }
  if (std::count(numbers.begin(), numbers.end(), std::nullopt) > 0) return ParsedWhileLoop{};
  const PrimitiveType type = ShapeUtil::GetSubshape(loop.shape(), {pattern->induction_index}).element_type();
  const std::optional<ParsedStaticWhileLoop> counted =
      CountIterations(*pattern, type, *numbers[0], *numbers[1], *numbers[2]);
  if (!counted.has_value()) return std::nullopt;
  return ParsedWhileLoop{counted};
}

}  // namespace kashi
