// Integers whose bounds are known, but not their values, such as the size of a dynamic dimension. They are sums of
// unknowns.
//
//   IntegerForms forms;
//   const IntegerForms::Id n = forms.Unknown({0, 10});                                   // a size below `<=10`
//   const IntegerForms::Id m = forms.Apply(HloOpcode::kSubtract, S32, {forms.Constant(7), n});
//   forms.RangeOf(m);                                                                     // {-3, 7}
//   forms.RangeOf(forms.Apply(HloOpcode::kAdd, S32, {m, n}));                             // {7, 7}: n cancels
//
// A form is constant + sum of coefficient * unknown. So sums, differences and multiples keep how values depend on
// each other. The result of another operation (maximum, quotient, comparison …) is a new unknown, between the bounds
// that follow from those of its operands. A result that may overflow its element type, and so wrap, has no form.
#ifndef KASHI_EVALUATOR_INTEGER_FORMS_H_
#define KASHI_EVALUATOR_INTEGER_FORMS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::evaluator {

// Both ends belong to it.
struct IntegerRange {
  int64_t low;
  int64_t high;
};

class IntegerForms {
 public:
  using Id = int32_t;
  static constexpr Id kNone = 0;  // nothing is known

  Id Constant(int64_t value);
  Id Unknown(IntegerRange range);
  // The result of an elementwise operation on these operands, as a value of `type` (an integer, or PRED as 0 and 1).
  // kNone if an operand is kNone, or if the operation has no rule (OperationTraits::integers).
  Id Apply(HloOpcode opcode, PrimitiveType type, absl::Span<const Id> operands);
  Id Compare(ComparisonDirection direction, Id lhs, Id rhs);
  // One of the two; it is not known which.
  Id Either(Id a, Id b);
  // The number as a value of `type`; kNone if it may not fit.
  Id AsType(PrimitiveType type, Id form);

  // Dies for kNone.
  IntegerRange RangeOf(Id form) const;
  // nullopt for types whose numbers are not integers.
  static std::optional<IntegerRange> RangeOfType(PrimitiveType type);

 private:
  friend struct IntegerRules;
  using Term = std::pair<int32_t, int64_t>;  // which unknown, and its coefficient, which is not 0
  struct Form {
    int64_t constant;
    std::vector<Term> terms;  // by unknown
    IntegerRange range;
  };

  Id Insert(int64_t constant, std::vector<Term> terms);
  // a + factor * b
  Id Sum(Id a, Id b, int64_t factor);
  Id Scaled(Id a, int64_t factor) { return Sum(Constant(0), a, factor); }
  Id Product(Id a, Id b);
  Id Quotient(Id a, Id b);
  Id Remainder(Id a, Id b);
  Id AbsoluteValue(Id a);
  Id Minimum(Id a, Id b);
  Id Maximum(Id a, Id b);
  const Form& form(Id id) const { return forms_[id - 1]; }

  std::vector<Form> forms_;  // Id 1 is the first
  std::vector<IntegerRange> unknowns_;
  absl::flat_hash_map<int64_t, Id> constants_;
};

// The form of an operation's result, before it is known to fit into `type`. No operand is kNone.
using IntegerRule = IntegerForms::Id (*)(IntegerForms& forms, PrimitiveType type,
                                         absl::Span<const IntegerForms::Id> operands);

// The rules of single operations, for the table of operations (operation_table.h).
struct IntegerRules {
  using Id = IntegerForms::Id;
  using Ids = absl::Span<const Id>;

  static Id Abs(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Add(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id And(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Clamp(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Convert(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Copy(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Divide(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Maximum(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Minimum(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Multiply(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Negate(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Not(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Or(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Remainder(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Sign(IntegerForms& forms, PrimitiveType type, Ids x);
  static Id Subtract(IntegerForms& forms, PrimitiveType type, Ids x);
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_INTEGER_FORMS_H_
