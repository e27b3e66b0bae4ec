// Finds where a value is made: goes back through tuples, calls and operations whose result is their operand.
#ifndef KASHI_EVALUATOR_VALUE_SOURCE_H_
#define KASHI_EVALUATOR_VALUE_SOURCE_H_

#include <optional>
#include <vector>

#include "kashi/evaluator/while_loop_pattern.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

// A part of an instruction's value, within these calls; the innermost call is last.
struct PlaceInCalls {
  PartOfInstruction part;
  std::vector<const HloInstruction*> calls;
};

// The instruction that makes the part: it computes the part, or is a constant, a loop or a parameter of the outermost
// computation. nullopt after more than 1000 steps.
std::optional<PlaceInCalls> SourceOf(PlaceInCalls place);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_VALUE_SOURCE_H_
