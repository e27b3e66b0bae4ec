// Helpers that the functions of custom calls share, and the functions that call no computation. The evaluator has the
// table of targets (kashi/evaluator/custom_call.cc), and functions that run computations. The comment of each function
// lists its operands and results; UNIMPLEMENTED for others.
#ifndef KASHI_CUSTOM_CALLS_CUSTOM_CALL_FUNCTIONS_H_
#define KASHI_CUSTOM_CALLS_CUSTOM_CALL_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/values/basic_operation.h"
#include "kashi/values/value.h"

namespace kashi::custom_calls {

// UNIMPLEMENTED: operands or results are not those of the target.
absl::Status MisusedCustomCall(const values::BasicOperation& op);
// Whether the call has this number of operands, and all are arrays.
bool HasArrayOperands(const values::BasicOperation& op, size_t count);
// Whether the call has one result, an array of this type with these dimensions.
bool HasArrayResult(const values::BasicOperation& op, PrimitiveType type, absl::Span<const int64_t> dimensions);
// A tuple of these values, if they match the call's shape.
absl::StatusOr<Value> MakeTupleResult(const values::BasicOperation& op, std::vector<Value> values);
template <typename... Values>
absl::StatusOr<Value> MakeTupleResultOf(const values::BasicOperation& op, Values&&... values) {
  std::vector<Value> all;
  (all.push_back(std::forward<Values>(values)), ...);
  return MakeTupleResult(op, std::move(all));
}

// ---- jax_custom_calls.cc: calls of JAX on a CPU that need no LAPACK ------------------------------------------------

// tridiagonal_solve_perturbed_ffi: (lower[..., n], diagonal[..., n], upper[..., n], b[..., n, c]) -> x[..., n, c]
absl::StatusOr<Value> SolveTridiagonalPerturbed(values::BasicOperation& op);
// cpu_csr_sparse_dense_ffi: (data[e], offsets[m + 1], columns[e], b[n] or b[n, c]) -> [m] or [m, c]
absl::StatusOr<Value> MultiplyCsr(values::BasicOperation& op);

// ---- jax_gpu_custom_calls.cc: plain arithmetic of JAX on a GPU ------------------------------------------------------

// cu_threefry2x32_ffi, hip_…: (key 0, key 1, counter 0, counter 1), all u32 of one shape -> (u32, u32) of that shape
absl::StatusOr<Value> EvaluateThreefry(values::BasicOperation& op);
// cu_lu_pivots_to_permutation, hip_…: (pivots s32[..., k]) -> s32[..., n]: rows i and pivots[i] were exchanged, in turn
absl::StatusOr<Value> EvaluateLuPermutation(values::BasicOperation& op);

// ---- check_custom_calls.cc: calls that compare two arrays. FAILED_PRECONDITION names the first mismatch -------------

// check.expect_eq, check.expect_almost_eq, check.expect_close: (actual, expected) -> ()
absl::StatusOr<Value> EvaluateExpectEq(values::BasicOperation& op);
absl::StatusOr<Value> EvaluateExpectAlmostEq(values::BasicOperation& op);
absl::StatusOr<Value> EvaluateExpectClose(values::BasicOperation& op);
// check.eq: (actual, expected) -> pred[]
absl::StatusOr<Value> EvaluateCheckEq(values::BasicOperation& op);

}  // namespace kashi::custom_calls

#endif  // KASHI_CUSTOM_CALLS_CUSTOM_CALL_FUNCTIONS_H_
