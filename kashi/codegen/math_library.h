// MathLibrary: the mathematical functions of a target: calls of library functions, or inline code.
#ifndef KASHI_CODEGEN_MATH_LIBRARY_H_
#define KASHI_CODEGEN_MATH_LIBRARY_H_

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"

namespace kashi::codegen {

enum class MathFunction {
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

class MathLibrary {
 public:
  virtual ~MathLibrary() = default;
  // Applies the function to f32 or f64 operands, lane by lane. A lane's result does not depend on the number of lanes.
  virtual llvm::Value* Emit(const LaneBuilder& lanes, MathFunction function,
                            absl::Span<llvm::Value* const> operands) const = 0;
  // Emit(kExp) for x <= 0 or NaN, which may cost less.
  virtual llvm::Value* EmitExpOfNegative(const LaneBuilder& lanes, llvm::Value* x) const {
    return Emit(lanes, MathFunction::kExp, {x});
  }
};

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_MATH_LIBRARY_H_
