// How an operation is evaluated: for each opcode of ops.def one function
//
//   template <> absl::StatusOr<Value> Evaluate<HloOpcode::kReverse>(Operation& op) { … }
//
// beside others of its family (data_movement.cc, reduce.cc, …); elementwise operations share one (elementwise.cc).
// The table in operation_table.cc is made of ops.def: an opcode without a function does not link.
#ifndef KASHI_EVALUATOR_OPERATION_H_
#define KASHI_EVALUATOR_OPERATION_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

struct ElementKernel;

// An instruction, and the values of its operands.
struct Operation {
  const HloInstruction& instruction;
  // May be moved from. The last user of a value holds the only reference, and may write into its memory.
  absl::Span<Value> operands;
  // The array that is the result, or the arrays that are the elements of a tuple result (null for elements that are
  // none). With the sizes that the result really has: ask these and the operands' own shapes for sizes, never the
  // instruction's.
  absl::Span<const DenseShape> results;
  EvaluationRun& run;
  // What the instruction does to elements, for elementwise operations; null: no kernel for these types.
  const ElementKernel* kernel = nullptr;

  const DenseShape& result(int64_t i = 0) const { return results[i]; }
  // An uninitialised array of result i.
  absl::StatusOr<Value> MakeResult(int64_t i = 0) const { return run.MakeArray(results[i]); }
};

// The modules that reach these functions have passed the verifier, so what it checks they need not; what only values
// can tell (sizes, indices) they check. Costs are those of the elements read and written.
template <HloOpcode opcode>
absl::StatusOr<Value> Evaluate(Operation& op);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_OPERATION_H_
