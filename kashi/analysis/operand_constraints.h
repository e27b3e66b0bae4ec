// The rules of value_constraints.h for single operations: constraints on their operands, and constraints on operands
// that follow from a constraint on the result.
#ifndef KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_
#define KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"
#include "kashi/analysis/value_constraints.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// Receives a wish for an array, the result of `value`, an operand or an operand's operand.
using ConstraintSink = absl::FunctionRef<void(const HloInstruction* value, const ValueConstraint& wish)>;

// The constraints of the operation on its operands, without those that follow from its result. Only arrays; no tuples
// and calls.
void WantOfOperands(const HloInstruction& instruction, ConstraintSink sink);

// What an operation with one array as its result wants of its operands so that the result is as wished. Nothing where
// the operation ends the matter: abs of anything is positive.
void HandToOperands(const HloInstruction& instruction, const ValueConstraint& wish, ConstraintSink sink);

// The number that all elements have: of a constant that is not elided, through broadcasts, reshapes, conversions and
// copies.
std::optional<double> ConstantNumber(const HloInstruction& instruction);

// Both wishes in one. Where they contradict each other that for an index holds, and otherwise `first`.
ValueConstraint Meet(const ValueConstraint& first, const ValueConstraint& second);
bool SameWish(const ValueConstraint& a, const ValueConstraint& b);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_OPERAND_CONSTRAINTS_H_
