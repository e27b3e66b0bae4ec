// The evaluator's table of opcodes: the function that evaluates each, and facts that are not in ops.def.
//
// The functions are the specialisations of Evaluate (operation.h). The facts are the rows of operation_table.cc. An
// opcode without a row has the default values below, which fit an operation that computes an array from arrays.
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

namespace kashi::evaluator {

using EvaluationFunction = absl::StatusOr<Value> (*)(Operation& op);

// Null for operations that cannot be evaluated, because they need a host or another program.
EvaluationFunction FindEvaluation(HloOpcode opcode);

// Whether the operation has kernels (kashi/kernels/element_kernel.h): kElementwise in ops.def, except copy and
// bitcast-convert, which move bytes, and map, which is a call.
bool HasElementKernel(HloOpcode opcode);

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
  kCall,          // the root of the called computation; the operands are its arguments
  kLoop,          // while
  kBranch,        // conditional
};

// The sizes of the result, from the real sizes of the operands.
using SizesFunction = absl::StatusOr<std::vector<int64_t>> (*)(const HloInstruction& instruction,
                                                               absl::Span<const Value> operands);

struct OperationTraits {
  static constexpr int kAllOperands = std::numeric_limits<int>::max();

  ValueSource source = ValueSource::kComputed;
  // The result consists of unchanged elements of the first operands: this is their number. Later operands say where the
  // elements go. kAllOperands: all operands. 0: the elements are computed.
  int moved_operands = 0;
  // The sizes of the result are values of operands.
  bool has_computed_sizes = false;
  // Operands may be tuples and tokens. All other operations read every operand as an array.
  bool takes_any_value = false;
  // Another execution thread or a handler makes the result, whose types and sizes may differ from the shape.
  bool is_made_elsewhere = false;
  // The values of the operands do not determine the result: it depends on the device, the run or a handler.
  // (Flags of ops.def say the same of collectives, random numbers and so on.)
  bool depends_on_run = false;
  // The work of the operation, in addition to the 1 of every instruction.
  WorkFunction work = &WorkOfResults;
  // Null: shape inference gives the sizes of the result.
  SizesFunction sizes = nullptr;
  // The bounds of integer results. Null: unknown.
  IntegerRule integers = nullptr;

  constexpr OperationTraits Source(ValueSource value) const { return With(&OperationTraits::source, value); }
  constexpr OperationTraits Moves(int operands) const { return With(&OperationTraits::moved_operands, operands); }
  constexpr OperationTraits HasComputedSizes() const { return With(&OperationTraits::has_computed_sizes, true); }
  constexpr OperationTraits TakesAnyValue() const { return With(&OperationTraits::takes_any_value, true); }
  constexpr OperationTraits IsMadeElsewhere() const { return With(&OperationTraits::is_made_elsewhere, true); }
  constexpr OperationTraits DependsOnRun() const { return With(&OperationTraits::depends_on_run, true); }
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

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_OPERATION_TABLE_H_
