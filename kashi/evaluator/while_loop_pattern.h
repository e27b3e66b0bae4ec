// Loops that count: `i = init; while (i < bound) i += step` over a tuple that has i among its elements.
//
//   PatternMatchParseWhileLoop(loop)->static_while_loop->trip_count
//
// The comparison may have any direction, with i on either side. Copies, tuples, calls and fusions are followed.
#ifndef KASHI_EVALUATOR_WHILE_LOOP_PATTERN_H_
#define KASHI_EVALUATOR_WHILE_LOOP_PATTERN_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "kashi/array/shape_index.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {
class EvaluationRun;
}  // namespace kashi::evaluator

namespace kashi {

// XLA's analyses that a caller may have already. Not used here.
struct PrecomputedAnalyses {
  const void* tuple_points_to = nullptr;
  const void* call_graph = nullptr;
};

struct ParsedStaticWhileLoop {
  int64_t trip_count = -1;
  int64_t induction_var_index = -1;  // in the tuple
  int64_t induction_var_init_value = -1;
  int64_t step_size = -1;   // negative if the loop counts down
  int64_t loop_bound = -1;  // the other side of the comparison
};

struct ParsedWhileLoop {
  std::optional<ParsedStaticWhileLoop> static_while_loop;
  // It counts, but init, bound or step are known only at run time.
  bool is_dynamic() const { return !static_while_loop.has_value(); }
};

// nullopt: it does not count, or never ends. If the condition is a PRED of the state, which the body sets to false, the
// loop counts from 0 to 1. Evaluates instructions to find the numbers.
std::optional<ParsedWhileLoop> PatternMatchParseWhileLoop(const HloInstruction* while_op,
                                                          PrecomputedAnalyses analyses = {});

// As above; `run` evaluates, and its limits hold.
std::optional<ParsedWhileLoop> PatternMatchParseWhileLoop(const HloInstruction& loop, evaluator::EvaluationRun* run);

// ---- The parts of the above, for callers with their own evaluation (partial_evaluation.h).

// The part at `index` of an instruction's value.
struct PartOfInstruction {
  const HloInstruction* instruction;
  ShapeIndex index;
};

struct WhileLoopPattern {
  int64_t induction_index = 0;
  // The loop runs while `i direction bound`. nullopt: while i, a PRED, is true; `step` is its next value.
  std::optional<ComparisonDirection> direction;
  PartOfInstruction init;
  PartOfInstruction bound;  // unused without direction
  PartOfInstruction step;
  bool counts_down = false;  // `step` is subtracted
};

// The pattern of the code, without evaluation.
std::optional<WhileLoopPattern> MatchWhileLoop(const HloInstruction& loop);
// nullopt: it does not end, or i overflows first.
std::optional<ParsedStaticWhileLoop> CountIterations(const WhileLoopPattern& pattern, PrimitiveType type, int64_t init,
                                                     int64_t bound, int64_t step);
// Whether the body returns element `i` of its state unchanged.
bool IsInvariant(const HloInstruction& loop, int64_t i);

}  // namespace kashi

#endif  // KASHI_EVALUATOR_WHILE_LOOP_PATTERN_H_
