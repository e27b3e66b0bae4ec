// Loops that no pattern describes: the numbers that the condition depends on are computed, iteration by iteration.
#ifndef KASHI_SCALE_EVALUATED_LOOP_H_
#define KASHI_SCALE_EVALUATED_LOOP_H_

#include <cstdint>
#include <optional>

#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::scale {

// The iterations until the condition is false. nullopt: it depends on a value that is not known before the loop, on
// more than a few elements, on other loops within the iteration that take too long, or `most_iterations` are not
// enough; or the limits of `run` are exceeded.
std::optional<int64_t> EvaluateTripCount(const HloInstruction& loop, int64_t most_iterations,
                                         evaluator::EvaluationRun* run);

}  // namespace kashi::scale

#endif  // KASHI_SCALE_EVALUATED_LOOP_H_
