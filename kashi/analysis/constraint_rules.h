// What the rules for operands have in common, those of wants (operand_wants.cc) and those of hands
// (operand_constraints.cc): making wishes, and looking at operands that may not be there.
#ifndef KASHI_ANALYSIS_CONSTRAINT_RULES_H_
#define KASHI_ANALYSIS_CONSTRAINT_RULES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kashi/analysis/operand_constraints.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

inline constexpr double kUnbounded = ValueConstraint::kInfinity;

inline ValueConstraint WishOf(const HloInstruction& user) {
  ValueConstraint wish;
  wish.user = &user;
  return wish;
}

inline bool IsBounded(const ValueConstraint& wish) { return wish.min > -kUnbounded || wish.max < kUnbounded; }
inline ValueConstraint WithInterval(ValueConstraint wish, double min, double max) {
  wish.min = min;
  wish.max = max;
  return wish;
}

// Modules that were not verified may lack it.
inline const HloInstruction* Operand(const HloInstruction& instruction, int64_t number) {
  return number < instruction.operand_count() ? instruction.operand(number) : nullptr;
}
inline bool IsReal(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsFloatingPointType(x.shape().element_type());
}
inline bool IsInteger(const HloInstruction& x) {
  return x.shape().IsArray() && primitive_util::IsIntegralType(x.shape().element_type());
}
inline void Send(const HloInstruction& instruction, int64_t number, const ValueConstraint& wish, ConstraintSink sink) {
  const HloInstruction* operand = Operand(instruction, number);
  if (operand != nullptr && operand->shape().IsArray()) sink(operand, wish);
}
inline void SendToAll(const HloInstruction& instruction, const ValueConstraint& wish, ConstraintSink sink) {
  for (int64_t i = 0; i < instruction.operand_count(); ++i) Send(instruction, i, wish, sink);
}

// The number that all elements of a constant operand have.
inline std::optional<double> ConstantOperand(const HloInstruction& instruction, int64_t number) {
  const HloInstruction* operand = Operand(instruction, number);
  return operand == nullptr ? std::nullopt : ConstantNumber(*operand);
}

// What a value is before it is spread, converted or copied.
const HloInstruction& BehindMoves(const HloInstruction& value);

// The operation of a computation that only combines its two parameters; nullopt for others.
std::optional<HloOpcode> Combiner(const HloInstruction& instruction, size_t number = 0);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_CONSTRAINT_RULES_H_
