// The rules of value_constraints.h for single operations: constraints on their operands, and constraints on operands
// that follow from a constraint on the result.
#ifndef KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_
#define KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "kashi/analysis/value_constraints.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

// Receives a constraint on an array: the result of `value`, which is an operand or an operand's operand.
using ConstraintSink = absl::FunctionRef<void(const HloInstruction* value, const ValueConstraint& constraint)>;

// Sends the constraints of the operation on its operands, without those that follow from a constraint on its result.
// Only for arrays, not for tuples and calls.
void ConstrainOperands(const HloInstruction& instruction, ConstraintSink sink);

// Sends the constraints on operands that follow from `constraint` on the result, which is one array. Sends nothing if
// the operation meets the constraint by itself: the result of abs is always positive.
void PassToOperands(const HloInstruction& instruction, const ValueConstraint& constraint, ConstraintSink sink);

// The number that all elements have, if the value is a constant that is not elided. Follows broadcasts, reshapes,
// conversions and copies.
std::optional<double> ConstantNumber(const HloInstruction& instruction);

// A constraint that meets both. If they contradict each other, the one for an index wins, otherwise `first`. Intervals
// of real numbers that only touch contradict each other too: "positive" and "negative" both have 0 as their end.
ValueConstraint Meet(const ValueConstraint& first, const ValueConstraint& second, bool is_integer);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_
