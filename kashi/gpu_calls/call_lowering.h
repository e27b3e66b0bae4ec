// What the functions of lower_call.h have in common: the builder of the operations, and the types they compute in.
#ifndef KASHI_GPU_CALLS_CALL_LOWERING_H_
#define KASHI_GPU_CALLS_CALL_LOWERING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/gpu_calls/call_config.h"
#include "kashi/gpu_calls/gpu_call.h"
#include "kashi/hlo/builder/xla_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::gpu_calls {

// A call that is being lowered. The operations of XlaBuilder check shapes: their first error is that of the call.
class CallLowering {
 public:
  CallLowering(const HloInstruction& call, const CallConfig& config, LoweredPart part);

  const HloInstruction& call() const { return call_; }
  const CallConfig& config() const { return config_; }
  bool only_products() const { return part_ == LoweredPart::kProducts; }
  XlaBuilder* builder() { return &builder_; }

  int64_t operand_count() const { return call_.operand_count(); }
  // Pre: 0 <= i < operand_count().
  XlaOp operand(int64_t i) const { return operands_[i]; }
  const Shape& operand_shape(int64_t i) const { return call_.operand(i)->shape(); }

  // The results without scratch memory.
  int64_t result_count() const { return static_cast<int64_t>(results_.size()); }
  // Pre: 0 <= i < result_count().
  const Shape& result(int64_t i) const { return *results_[i]; }

  // INVALID_ARGUMENT: "NAME: WHAT".
  absl::Status Wrong(absl::string_view what) const;
  absl::Status Unknown(absl::string_view what) const;  // UNIMPLEMENTED
  // INVALID_ARGUMENT unless there are so many.
  absl::Status ExpectOperands(int64_t least, int64_t most) const;
  absl::Status ExpectResults(int64_t least, int64_t most) const;

  // ---- Operations.
  // A scalar of this type. A type of integers takes integers only: the fraction of others is cut off.
  XlaOp Constant(PrimitiveType type, double value);
  // An array of ones, of the shape of x.
  XlaOp OnesLike(XlaOp x);
  // Operand i in this type.
  XlaOp OperandAs(int64_t i, PrimitiveType type) {
    return operand_shape(i).element_type() == type ? operand(i) : ConvertElementType(operand(i), type);
  }
  // x * scale, and x itself for 1.
  XlaOp Scale(XlaOp x, PrimitiveType type, double scale);
  // The largest absolute value, a scalar of the type.
  XlaOp LargestAbsolute(XlaOp x, PrimitiveType type);
  // The largest element, and the sum, along these dimensions.
  XlaOp Largest(XlaOp x, PrimitiveType type, absl::Span<const int64_t> dimensions);
  XlaOp Sum(XlaOp x, PrimitiveType type, absl::Span<const int64_t> dimensions);
  // Converts to the type of result i. Values beyond the range of 8 bits become its limit, as in the libraries.
  XlaOp ToResult(XlaOp x, int64_t i) { return ToType(x, result(i).element_type()); }
  XlaOp ToType(XlaOp x, PrimitiveType type);

  // The shape of an operation; that of a scalar after an error.
  Shape ShapeOf(XlaOp op) const;

 private:
  XlaComputation ScalarFunction(PrimitiveType type, XlaOp (*function)(XlaOp, XlaOp));

  const HloInstruction& call_;
  const CallConfig& config_;
  const LoweredPart part_;
  XlaBuilder builder_;
  std::vector<XlaOp> operands_;
  std::vector<const Shape*> results_;
};

// The type in which a library adds up products of this type for results of that type.
PrimitiveType ComputeType(PrimitiveType operand, PrimitiveType result);

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_CALL_LOWERING_H_
