// The pass that implements ValueInference (value_inference.h): infers the knowledge about each value of a program that
// is being built.
#ifndef KASHI_VALUE_INFERENCE_VALUE_INFERENCE_PASS_H_
#define KASHI_VALUE_INFERENCE_VALUE_INFERENCE_PASS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/integer_forms.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"
#include "kashi/value_inference/value_inference.h"
#include "kashi/values/value.h"

namespace kashi::value_inference {

// The knowledge about the value of an instruction. For an array:
//
//   value      dynamic     an element is
//   nothing    -           dynamic
//   an array   nothing     known
//   an array   PRED[…]     known where that is false; elsewhere `value` says nothing
//
// `forms`, if present, has an IntegerForms::Id for each element. It counts if the element is dynamic.
struct Known {
  bool is_tuple = false;
  std::vector<Known> elements;
  Value value;
  Value dynamic;
  Value forms;

  static Known AllOf(Value value);
  static Known TupleOf(std::vector<Known> elements);

  bool IsAll() const {
    if (!is_tuple) return !value.is_nothing() && dynamic.is_nothing();
    return std::all_of(elements.begin(), elements.end(), [](const Known& element) { return element.IsAll(); });
  }
  bool IsNone() const { return !is_tuple && value.is_nothing() && forms.is_nothing(); }
  // Pre: IsAll().
  Value ToValue() const;
  // Nothing is known of the elements if it is not a tuple.
  const Known& Element(int64_t i) const;
};

// The number of first operands whose elements the instruction only moves, to places that later operands give. 0: none.
size_t MovedOperands(const HloInstruction& instruction);
// Whether the values of the operands do not determine the result.
bool IsFree(const HloInstruction& instruction);

// Infers the knowledge about values (value_inference.h), operands first, also in called computations. One object per
// query.
class Inference {
 public:
  Inference() : run_(Options()) {}

  // Infers the knowledge about `root` from that about the parameters of its computation.
  Known Infer(const HloInstruction& root, const std::vector<Known>& arguments);

  // ---- Results, with the shape of the instruction and static dimensions.
  absl::StatusOr<Literal> ValueLiteral(const Known& known, const Shape& shape, ValueInferenceMode mode);
  absl::StatusOr<Literal> DynamicLiteral(const Known& known, const Shape& shape, bool bounds_count);

 private:
  struct Scope {
    const std::vector<Known>& arguments;
    absl::flat_hash_map<const HloInstruction*, Known> known;
    std::map<std::pair<const HloInstruction*, int64_t>, evaluator::IntegerForms::Id> sizes;  // of dimensions
  };

  static EvaluationOptions Options();

  absl::StatusOr<Known> Of(const HloInstruction& instruction, Scope& scope);
  absl::StatusOr<Known> OfComputed(const HloInstruction& instruction, const std::vector<const Known*>& operands,
                                   Scope& scope);
  absl::StatusOr<Known> OfOperation(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfWhole(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfElementwise(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfSelect(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfMove(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfReduction(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfSort(const HloInstruction& instruction, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfConditional(const HloInstruction& conditional, const std::vector<const Known*>& operands);
  absl::StatusOr<Known> OfLoop(const HloInstruction& loop, const Known& state);
  absl::StatusOr<Known> OfSetBound(const HloInstruction& call);
  absl::StatusOr<Known> OfSize(const HloInstruction& instruction, Scope& scope);
  evaluator::IntegerForms::Id SizeOf(const HloInstruction& array, int64_t dimension, Scope& scope);
  absl::StatusOr<Value> AnyIsDynamic(const HloInstruction& reduction, const Value& dynamic);
  absl::StatusOr<Known> FoldForms(const HloInstruction& reduce, const Known& operand, const Known& init);
  absl::StatusOr<Known> Either(const Known& a, const Known& b);

  // Whether the instruction, or a computation that it calls, has values that its operands do not determine.
  bool IsFreeWithin(const HloInstruction& instruction);
  bool IsFreeComputation(const HloComputation& computation);

  // ---- Arrays.
  absl::StatusOr<Value> Evaluate(const HloInstruction& instruction, std::vector<Value> operands);
  // Evaluates with elements of `type` in the operands whose elements move, and in the result.
  absl::StatusOr<Value> EvaluateAs(PrimitiveType type, const HloInstruction& instruction, std::vector<Value> operands);
  absl::StatusOr<Value> Filled(PrimitiveType type, const Shape& shape, int byte);
  absl::StatusOr<Value> ValueOrZeros(const Known& known, const Shape& shape);
  absl::StatusOr<Value> Dynamic(const Known& known, const Shape& shape);
  // A form for each element; empty if no element has one.
  absl::StatusOr<std::vector<evaluator::IntegerForms::Id>> FormsOf(const Known& known);
  absl::StatusOr<Value> FormArray(const Shape& shape, absl::Span<const evaluator::IntegerForms::Id> forms);
  // Drops the arrays of `known` that have no information.
  static Known Tidy(Known known);
  // An array of which only `forms` is known.
  absl::StatusOr<Known> OfForms(const Shape& shape, absl::Span<const evaluator::IntegerForms::Id> forms);

  evaluator::EvaluationRun run_;
  evaluator::IntegerForms forms_;
  absl::flat_hash_map<const HloComputation*, bool> free_computations_;
  int instructions_ = 0;
  int call_depth_ = 0;
};

}  // namespace kashi::value_inference

#endif  // KASHI_VALUE_INFERENCE_VALUE_INFERENCE_PASS_H_
