// Custom calls of JAX's GPU lowering that are plain arithmetic: any machine can compute them.
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_functions.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::custom_calls {
namespace {

constexpr int64_t kElementsPerCheck = 4096;

uint32_t RotateLeft(uint32_t x, int bits) { return x << bits | x >> (32 - bits); }

// Threefry2x32 of 20 rounds: the counter (x0, x1) under the key (k0, k1).
std::pair<uint32_t, uint32_t> HashCounter(uint32_t k0, uint32_t k1, uint32_t x0, uint32_t x1) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k[3] = {k0, k1, 0x1BD11BDA ^ k0 ^ k1};
  x0 += k[0];
  x1 += k[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (const int bits : kRotations[group % 2]) {
      x0 += x1;
      x1 = RotateLeft(x1, bits) ^ x0;
    }
    x0 += k[(group + 1) % 3];
    x1 += k[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

}  // namespace

absl::StatusOr<Value> EvaluateThreefry(values::BasicOperation& op) {
  if (!HasArrayOperands(op, 4) || op.results.size() != 2) return MisusedCustomCall(op);
  const Shape& shape = op.operands[0].shape();
  const bool fits = shape.element_type() == U32 && op.result(0) && *op.result(0) == shape && op.result(1) &&
                    *op.result(1) == shape &&
                    absl::c_all_of(op.operands, [&](const Value& operand) { return operand.shape() == shape; });
  if (!fits) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(Value first, op.MakeResult(0));
  KASHI_ASSIGN_OR_RETURN(Value second, op.MakeResult(1));
  const uint32_t* in[4];
  for (int i = 0; i < 4; ++i) in[i] = op.operands[i].data<uint32_t>().data();
  uint32_t *const x0 = first.mutable_data<uint32_t>().data(), *const x1 = second.mutable_data<uint32_t>().data();
  for (int64_t i = 0; i < first.element_count(); ++i) {
    if (i % kElementsPerCheck == 0) KASHI_RETURN_IF_ERROR(op.CheckStopped());
    std::tie(x0[i], x1[i]) = HashCounter(in[0][i], in[1][i], in[2][i], in[3][i]);
  }
  return MakeTupleResultOf(op, std::move(first), std::move(second));
}

absl::StatusOr<Value> EvaluateLuPermutation(values::BasicOperation& op) {
  if (!HasArrayOperands(op, 1) || op.results.size() != 1 || !op.result()) return MisusedCustomCall(op);
  const Shape &from = op.operands[0].shape(), &to = *op.result();
  const int rank = op.operands[0].rank();
  const bool fits = rank > 0 && from.element_type() == S32 && to.element_type() == S32 &&
                    op.result()->dimensions().size() == from.dimensions().size() &&
                    absl::c_equal(from.dimensions().subspan(0, rank - 1), to.dimensions().subspan(0, rank - 1)) &&
                    from.dimensions()[rank - 1] <= to.dimensions()[rank - 1];
  if (!fits) return MisusedCustomCall(op);
  KASHI_ASSIGN_OR_RETURN(Value result, op.MakeResult());
  const int64_t steps = from.dimensions()[rank - 1], n = to.dimensions()[rank - 1];
  const int64_t matrices = n == 0 ? 0 : result.element_count() / n;
  const int32_t* pivots = op.operands[0].data<int32_t>().data();
  int32_t* permutation = result.mutable_data<int32_t>().data();
  for (int64_t matrix = 0; matrix < matrices; ++matrix, pivots += steps, permutation += n) {
    KASHI_RETURN_IF_ERROR(op.CheckStopped());
    std::iota(permutation, permutation + n, 0);
    for (int64_t i = 0; i < steps; ++i) {
      const bool is_row = pivots[i] >= 0 && pivots[i] < n;  // JAX's kernels skip other pivots
      if (is_row) std::swap(permutation[i], permutation[pivots[i]]);
    }
  }
  return result;
}

}  // namespace kashi::custom_calls
