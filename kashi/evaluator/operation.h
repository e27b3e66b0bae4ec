// How operations are evaluated. There is one function for each opcode of ops.def,
//
//   template <> absl::StatusOr<Value> Evaluate<HloOpcode::kReverse>(Operation& op) { … }
//
// beside others of its family (data_movement.cc, reduce.cc, …); elementwise operations share one (elementwise.cc). The
// table in operation_table.cc is generated from ops.def: an opcode without a function does not link. (An
// elementwise opcode without a formula does; ElementwiseTest finds it.)
#ifndef KASHI_EVALUATOR_OPERATION_H_
#define KASHI_EVALUATOR_OPERATION_H_

#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/basic_operation.h"
#include "kashi/values/value.h"

namespace kashi::custom_calls {
class LapackBinding;
}  // namespace kashi::custom_calls
namespace kashi::kernels {
struct ElementKernel;
}  // namespace kashi::kernels

namespace kashi::evaluator {

// An operation of a run. It can call computations.
struct Operation : values::BasicOperation {
  EvaluationRun& run;
  // The kernel of an elementwise operation; null if there is none for these types.
  const kernels::ElementKernel* kernel = nullptr;
  // The instruction that starts this operation, if another one ends it: a collective operation may then give a pending
  // value (kashi/values/pending_value.h). Null: the result must be complete.
  const HloInstruction* start = nullptr;
  // Of a custom call of LAPACK; null: none was made.
  const custom_calls::LapackBinding* lapack = nullptr;
  // Of a call of cuBLAS or cuDNN: the operations it stands for (kashi/gpu_calls); null: none was made.
  const HloModule* gpu_call = nullptr;

  // An uninitialised array of this type and these sizes: MakeResult(i) if result i has both.
  absl::StatusOr<Value> MakeResultOf(PrimitiveType type, absl::Span<const int64_t> dimensions, int64_t i = 0) const {
    if (results[i]->element_type() == type && results[i]->dimensions() == dimensions) return MakeResult(i);
    return run.MakeArray(type, dimensions);
  }
};

// The module has passed the verifier, so these functions do not repeat its checks. They check data that depends on
// values: sizes and indices. Their cost is linear in the elements that they read and write.
template <HloOpcode opcode>
absl::StatusOr<Value> Evaluate(Operation& op);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_OPERATION_H_
