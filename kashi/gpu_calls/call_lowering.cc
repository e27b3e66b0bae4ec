#include "kashi/gpu_calls/call_lowering.h"

#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"

namespace kashi::gpu_calls {
namespace {

// All results of a call but its scratch memory.
std::vector<const Shape*> ResultsOf(const HloInstruction& call) {
  if (!call.shape().IsTuple()) return {&call.shape()};
  std::vector<const Shape*> results;
  for (const Shape& element : call.shape().tuple_shapes()) results.push_back(&element);
  if (ScratchOf(call) != nullptr) results.pop_back();
  return results;
}

}  // namespace

CallLowering::CallLowering(const HloInstruction& call, const CallConfig& config, LoweredPart part)
    : call_(call), config_(config), part_(part), builder_(std::string(call.name())), results_(ResultsOf(call)) {
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    operands_.push_back(Parameter(&builder_, i, call.operand(i)->shape(), absl::StrCat("operand_", i)));
  }
}

absl::Status CallLowering::Wrong(absl::string_view what) const { return InvalidArgument("%s: %s", call_.name(), what); }
absl::Status CallLowering::Unknown(absl::string_view what) const { return Unimplemented("%s: %s", call_.name(), what); }

absl::Status CallLowering::ExpectOperands(int64_t least, int64_t most) const {
  if (operand_count() >= least && operand_count() <= most) return absl::OkStatus();
  const std::string expected = least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most);
  return Wrong(absl::StrCat(call_.custom_call_target(), " with this backend_config has ", expected, " operands, not ",
                            operand_count()));
}

absl::Status CallLowering::ExpectResults(int64_t least, int64_t most) const {
  if (result_count() >= least && result_count() <= most) return absl::OkStatus();
  const std::string expected = least == most ? absl::StrCat(least) : absl::StrCat(least, " to ", most);
  return Wrong(absl::StrCat(call_.custom_call_target(), " with this backend_config has ", expected,
                            " results beside scratch memory, not ", result_count()));
}

XlaOp CallLowering::Constant(PrimitiveType type, double value) {
  if (!primitive_util::IsArrayType(type))
    return builder_.ReportError(InvalidArgument("an operand or result is no array"));
  if (primitive_util::IsIntegralType(type)) {
    return ConstantLiteral(&builder_, LiteralUtil::CreateR0<int64_t>(type, static_cast<int64_t>(value)));
  }
  const bool is_wide = type == F64 || type == C128;
  if (!is_wide && std::abs(value) > std::numeric_limits<float>::max())
    return builder_.ReportError(InvalidArgument("the number %g is beyond the range of the call", value));
  return ConstantLiteral(&builder_, LiteralUtil::CreateR0<double>(type, value));
}

XlaOp CallLowering::OnesLike(XlaOp x) {
  const Shape shape = ShapeOf(x);
  return Broadcast(Constant(shape.element_type(), 1), shape.dimensions());
}

XlaOp CallLowering::Scale(XlaOp x, PrimitiveType type, double scale) {
  return scale == 1 ? x : Mul(x, Constant(type, scale));
}

XlaComputation CallLowering::ScalarFunction(PrimitiveType type, XlaOp (*function)(XlaOp, XlaOp)) {
  const std::unique_ptr<XlaBuilder> builder = builder_.CreateSubBuilder("function");
  const Shape scalar = ShapeUtil::MakeShape(type, {});
  function(Parameter(builder.get(), 0, scalar, "a"), Parameter(builder.get(), 1, scalar, "b"));
  return builder->BuildAndNoteError();
}

XlaOp CallLowering::LargestAbsolute(XlaOp x, PrimitiveType type) {
  const XlaComputation largest = ScalarFunction(type, [](XlaOp a, XlaOp b) { return Max(a, b); });
  return ReduceAll(Abs(x), Constant(type, 0), largest);
}

XlaOp CallLowering::Sum(XlaOp x, PrimitiveType type, absl::Span<const int64_t> dimensions) {
  const XlaComputation sum = ScalarFunction(type, [](XlaOp a, XlaOp b) { return Add(a, b); });
  return Reduce(x, Constant(type, 0), sum, dimensions);
}

XlaOp CallLowering::Largest(XlaOp x, PrimitiveType type, absl::Span<const int64_t> dimensions) {
  const XlaComputation largest = ScalarFunction(type, [](XlaOp a, XlaOp b) { return Max(a, b); });
  return Reduce(x, ConstantLiteral(&builder_, LiteralUtil::MinValue(type)), largest, dimensions);
}

XlaOp CallLowering::ToType(XlaOp x, PrimitiveType type) {
  const PrimitiveType from = ShapeOf(x).element_type();
  if (from == type || !primitive_util::IsArrayType(type)) return from == type ? x : ConvertElementType(x, type);
  if (primitive_util::IsF8Type(type)) {
    const double limit = *LiteralUtil::MaxFiniteValue(type).GetAsDouble({});
    x = Clamp(Constant(from, -limit), x, Constant(from, limit));
  }
  if (type == S8 && primitive_util::IsFloatingPointType(from)) x = Clamp(Constant(from, -128), x, Constant(from, 127));
  return ConvertElementType(x, type);
}

Shape CallLowering::ShapeOf(XlaOp op) const { return builder_.GetShape(op).value_or(ShapeUtil::MakeShape(F32, {})); }

PrimitiveType ComputeType(PrimitiveType operand, PrimitiveType result) {
  if (primitive_util::IsComplexType(result) || result == F64) return result;
  if (primitive_util::IsIntegralType(operand) && primitive_util::IsIntegralType(result) &&
      primitive_util::BitWidth(result) >= 32) {
    return result;
  }
  return F32;
}

}  // namespace kashi::gpu_calls
