// What the evaluator knows about each opcode: the function that evaluates it, and the facts that ops.def does not have.
//
// The functions are the specialisations of Evaluate (operation.h). The facts are the rows of operation_table.cc. An
// opcode without a row has the values that are below, which fit an operation that computes an array from arrays.
#ifndef KASHI_EVALUATOR_OPERATION_TABLE_H_
#define KASHI_EVALUATOR_OPERATION_TABLE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/integer_forms.h"
#include "kashi/evaluator/operation.h"
#include "kashi/evaluator/work_rules.h"

namespace kashi::internal {

using EvaluationFunction = absl::StatusOr<Value> (*)(Operation& op);

// Null for operations that cannot be evaluated: they need a host or another program to talk to.
EvaluationFunction FindEvaluation(HloOpcode opcode);

// All operations that HasElementKernel.
absl::StatusOr<Value> EvaluateElementwise(Operation& op);

// Where the result of an operation comes from.
enum class ValueSource : uint8_t {
  kComputed,      // from the elements of the operands
  kOperand,       // operand 0 is the result: copy, opt-barrier, domain, add-dependency
  kParameter,     // an argument of the computation
  kConstant,      // the literal
  kTuple,         // the operands are the elements
  kTupleElement,  // an element of operand 0
  kCall,          // the root of the computation that it calls, whose arguments are the operands
  kLoop,          // while
  kBranch,        // conditional
};

// The sizes of the result, given operands with the sizes that they really have.
using SizesFunction = absl::StatusOr<std::vector<int64_t>> (*)(const HloInstruction& instruction,
                                                               absl::Span<const Value> operands);

struct OperationTraits {
  static constexpr int kAllOperands = std::numeric_limits<int>::max();

  ValueSource source = ValueSource::kComputed;
  // The result is made of elements of this many operands, unchanged; operands behind them say where the elements go.
  // kAllOperands: of all. 0: elements are computed.
  int moved_operands = 0;
  // The sizes of the result are values of operands.
  bool has_computed_sizes = false;
  // Operands may be tuples and tokens. All other operations read every operand as an array.
  bool takes_any_value = false;
  // Another thread of execution or a handler makes the result, which may have other types and sizes than its shape.
  bool is_made_elsewhere = false;
  // The values of the operands do not determine the result: it depends on the device, the run or a handler.
  // (Flags of ops.def say the same of collectives, random numbers and so on.)
  bool depends_on_run = false;
  // f(f(x, y), z) = f(x, f(y, z)) for integers. For floating-point numbers: up to rounding.
  bool is_associative = false;
  // What the operation costs beyond the 1 that every instruction costs.
  WorkFunction work = &WorkOfResults;
  // Null: shape inference says which sizes the result has.
  SizesFunction sizes = nullptr;
  // Bounds of the integers that it gives. Null: nothing is known.
  IntegerRule integers = nullptr;

  constexpr OperationTraits Source(ValueSource value) const { return With(&OperationTraits::source, value); }
  constexpr OperationTraits Moves(int operands) const { return With(&OperationTraits::moved_operands, operands); }
  constexpr OperationTraits HasComputedSizes() const { return With(&OperationTraits::has_computed_sizes, true); }
  constexpr OperationTraits TakesAnyValue() const { return With(&OperationTraits::takes_any_value, true); }
  constexpr OperationTraits IsMadeElsewhere() const { return With(&OperationTraits::is_made_elsewhere, true); }
  constexpr OperationTraits DependsOnRun() const { return With(&OperationTraits::depends_on_run, true); }
  constexpr OperationTraits IsAssociative() const { return With(&OperationTraits::is_associative, true); }
  constexpr OperationTraits Work(WorkFunction function) const { return With(&OperationTraits::work, function); }
  constexpr OperationTraits Sizes(SizesFunction function) const { return With(&OperationTraits::sizes, function); }
  constexpr OperationTraits Integers(IntegerRule rule) const { return With(&OperationTraits::integers, rule); }

 private:
  template <typename T>
  constexpr OperationTraits With(T OperationTraits::*member, T value) const {
    OperationTraits traits = *this;
    traits.*member = value;
    return traits;
  }
};
const OperationTraits& TraitsOf(HloOpcode opcode);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_OPERATION_TABLE_H_
