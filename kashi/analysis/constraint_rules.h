// Helpers of operand_requirements.cc and operand_constraints.cc. They make constraints, and look at operands that may
// be missing.
#ifndef KASHI_ANALYSIS_CONSTRAINT_RULES_H_
#define KASHI_ANALYSIS_CONSTRAINT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kashi/analysis/operand_constraints.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

inline constexpr double kUnbounded = ValueConstraint::kInfinity;

inline ValueConstraint ConstraintFrom(const HloInstruction& user) {
  ValueConstraint constraint;
  constraint.user = &user;
  return constraint;
}

inline bool IsBounded(const ValueConstraint& constraint) {
  return constraint.min > -kUnbounded || constraint.max < kUnbounded;
}
inline ValueConstraint WithInterval(ValueConstraint constraint, double min, double max) {
  constraint.min = min;
  constraint.max = max;
  return constraint;
}

// Null if the operand is missing: the module may not be verified.
inline const HloInstruction* Operand(const HloInstruction& instruction, int64_t number) {
  return number < instruction.operand_count() ? instruction.operand(number) : nullptr;
}
inline bool IsReal(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsFloatingPointType(x.shape().element_type());
}
inline bool IsInteger(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsIntegralType(x.shape().element_type());
}
inline void Send(const HloInstruction& instruction, int64_t number, const ValueConstraint& constraint,
                 ConstraintSink sink) {
  const HloInstruction* operand = Operand(instruction, number);
  if (operand != nullptr && operand->shape().IsArray()) sink(operand, constraint);
}
inline void SendToAll(const HloInstruction& instruction, const ValueConstraint& constraint, ConstraintSink sink) {
  for (int64_t i = 0; i < instruction.operand_count(); ++i) Send(instruction, i, constraint, sink);
}

// The number that all elements of the operand have, if it is a constant.
inline std::optional<double> ConstantOperand(const HloInstruction& instruction, int64_t number) {
  const HloInstruction* operand = Operand(instruction, number);
  return operand == nullptr ? std::nullopt : ConstantNumber(*operand);
}

// The value before it is broadcast, reshaped, converted or copied.
const HloInstruction& BeforeMoves(const HloInstruction& value);

// The operation of a computation that only combines its two parameters; nullopt for other computations.
std::optional<HloOpcode> Combiner(const HloInstruction& instruction, size_t number = 0);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_CONSTRAINT_RULES_H_
