// Products of small matrices, unrolled.
//
//   y = f32[10] dot(f32[10,10] a, f32[10] x)      10 vectors of 16 lanes: y = y + column k of a * x[k]
#ifndef KASHI_CODEGEN_SMALL_DOT_H_
#define KASHI_CODEGEN_SMALL_DOT_H_

#include "absl/functional/function_ref.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// Whether EmitSmallDot supports it: matrices of one type, F32 or F64, the result a small array, and not too much work.
bool CanEmitSmallDot(const HloInstruction& dot);

// Element number i of an operand, row-major, as a scalar.
using OperandElement = absl::FunctionRef<llvm::Value*(int64_t i)>;
// The result, in registers.
llvm::Value* EmitSmallDot(const LaneBuilder& lanes, const HloInstruction& dot, OperandElement lhs, OperandElement rhs);

// Products of matrices in memory, as loops: of little work, for one thread.
//
//   n > 1                 for i, for j in vectors: for k: out[i, j] += lhs[i, k] * rhs[k, j]
//   n = 1, rows of lhs    for i: for k in vectors: sum += lhs[i, k] * rhs[k];  out[i] = all lanes of sum
//   n = 1, others         for i in vectors: for k: out[i] += lhs[i, k] * rhs[k]
bool CanEmitLoopDot(const HloInstruction& dot);
void EmitLoopDot(const LaneBuilder& lanes, const HloInstruction& dot, llvm::Value* lhs, llvm::Value* rhs,
                 llvm::Value* out);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SMALL_DOT_H_
