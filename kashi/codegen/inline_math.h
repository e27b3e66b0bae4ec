// Mathematical functions of f32, emitted inline: their code overlaps with code around it; a call would wait for its
// result and spill registers. For processors with FMA. Largest errors: vector_math_testing.h.
#ifndef KASHI_CODEGEN_INLINE_MATH_H_
#define KASHI_CODEGEN_INLINE_MATH_H_

#include "kashi/codegen/lane_builder.h"

namespace kashi::codegen {

// exp, expm1, log, tanh: after S. Moshier's Cephes library (single precision), with FMA.
llvm::Value* EmitExpF32(const LaneBuilder& lanes, llvm::Value* x);
// For x <= 0 or NaN, if denormal results are 0.
llvm::Value* EmitExpOfNegativeF32(const LaneBuilder& lanes, llvm::Value* x);
llvm::Value* EmitExpm1F32(const LaneBuilder& lanes, llvm::Value* x);
llvm::Value* EmitLogF32(const LaneBuilder& lanes, llvm::Value* x);
llvm::Value* EmitTanhF32(const LaneBuilder& lanes, llvm::Value* x);
llvm::Value* EmitErfF32(const LaneBuilder& lanes, llvm::Value* x);
// For |x| < kLargestAngle; of others: any number. They compute in f64, after S. Moshier and B. Evans.
inline constexpr double kLargestAngle = 1e9;
llvm::Value* EmitSinF32(const LaneBuilder& lanes, llvm::Value* x);
llvm::Value* EmitCosF32(const LaneBuilder& lanes, llvm::Value* x);
// Makes denormal operands of a power normal, with the same result: a denormal exponent is no whole number, also where
// denormal operands count as 0, and the least normal number has the same powers. A denormal base counts as 0 there,
// also as a constant.
void ReplaceDenormalsForPowF32(const LaneBuilder& lanes, llvm::Value** x, llvm::Value** y);
// x to the power of y, for all numbers (C99, F.9.4.4), in f64.
llvm::Value* EmitPowF32(const LaneBuilder& lanes, llvm::Value* x, llvm::Value* y);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_INLINE_MATH_H_
