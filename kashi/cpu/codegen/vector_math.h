// Mathematical functions on vectors: those of inline_math.h, and for the others SLEEF's, within 1 ulp.
#ifndef KASHI_CPU_CODEGEN_VECTOR_MATH_H_
#define KASHI_CPU_CODEGEN_VECTOR_MATH_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/cpu/codegen/lane_builder.h"

namespace kashi::internal {

enum class VectorFunction {
  kExp,
  kExp2,
  kExpm1,
  kLog,
  kLog2,
  kLog1p,
  kTanh,
  kSin,
  kCos,
  kTan,
  kCbrt,
  kErf,
  kPow,
  kAtan,
  kAtan2
};

// The function of operands of f32 or f64, lane by lane. A lane's result does not depend on the number of lanes.
llvm::Value* EmitMath(const LaneBuilder& lanes, VectorFunction function, absl::Span<llvm::Value* const> operands);

// EmitMath(kExp) of x <= 0 or NaN, which takes less.
llvm::Value* EmitExpOfNegative(const LaneBuilder& lanes, llvm::Value* x);

// The addresses of all functions that the emitted code may call.
absl::flat_hash_map<std::string, const void*> MathAddresses();

}  // namespace kashi::internal

#endif  // KASHI_CPU_CODEGEN_VECTOR_MATH_H_
