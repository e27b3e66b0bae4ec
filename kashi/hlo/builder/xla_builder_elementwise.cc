// Element-wise operations. Lowering: docs/spec/hlo-ops.md 10.2 and 10.3; the broadcasts are in
// xla_builder_broadcast.cc.
#include <optional>

#include "kashi/array/primitive_util.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/builder/xla_broadcasting.h"
#include "kashi/hlo/builder/xla_lowering.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi {

using hlo::BinaryOperands;
using hlo::BroadcastOperands;
using hlo::BroadcastScalars;
using hlo::Inferred;
using hlo::Lower;
using hlo::LowerInferred;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

XlaOp Unary(HloOpcode opcode, XlaOp operand, const std::optional<ResultAccuracy>& accuracy = std::nullopt) {
  return LowerInferred({operand},
                       [&](Nodes x) { return HloInstruction::CreateUnary(Inferred(), opcode, x[0], accuracy); });
}

XlaOp Binary(HloOpcode opcode, XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {
  return Lower({lhs, rhs}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const BinaryOperands operands,
                           BroadcastOperands(&to, opcode, x[0], x[1], broadcast_dimensions));
    return to.Add(operands.result, opcode, {operands.lhs, operands.rhs});
  });
}

XlaOp CompareWith(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction,
                  std::optional<Comparison::Type> type) {
  return Lower({lhs, rhs}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const BinaryOperands operands,
                           BroadcastOperands(&to, HloOpcode::kCompare, x[0], x[1], broadcast_dimensions));
    return to.Add(HloInstruction::CreateCompare(operands.result, operands.lhs, operands.rhs, direction, type));
  });
}

XlaOp CompareTotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions,
                        ComparisonDirection direction) {
  const absl::StatusOr<const Shape*> shape = lhs.builder()->GetShapePtr(lhs);
  const bool is_float = shape.ok() && primitive_util::IsFloatingPointType((*shape)->element_type());
  return CompareWith(lhs, rhs, broadcast_dimensions, direction,
                     is_float ? std::optional(Comparison::Type::kFloatTotalOrder) : std::nullopt);
}

XlaOp Ternary(HloOpcode opcode, XlaOp first, XlaOp second, XlaOp third) {
  return Lower({first, second, third}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(const auto operands, BroadcastScalars(&to, x));
    return to.AddInferred(HloInstruction::CreateTernary(Inferred(), opcode, operands[0], operands[1], operands[2]));
  });
}

// The computation that returns its only argument.
absl::StatusOr<HloComputation*> PassThrough(XlaLowering* to, const Shape& shape) {
  XlaBuilder builder("dummy");
  Parameter(&builder, 0, shape, "p");
  KASHI_ASSIGN_OR_RETURN(const XlaComputation computation, builder.Build());
  return to->Embed(computation);
}

NodeOr SelectTuple(XlaLowering& to, Node pred, Node on_true, Node on_false) {
  if (!on_true->shape().IsTuple() || !on_false->shape().IsTuple()) {
    return Internal("select of a tuple and another value: %s and %s", ShapeUtil::HumanString(on_true->shape()),
                    ShapeUtil::HumanString(on_false->shape()));
  }
  KASHI_ASSIGN_OR_RETURN(HloComputation * pass_true, PassThrough(&to, on_true->shape()));
  KASHI_ASSIGN_OR_RETURN(HloComputation * pass_false, PassThrough(&to, on_false->shape()));
  return to.AddInferred(HloInstruction::CreateConditional(Inferred(), pred, on_true, pass_true, on_false, pass_false));
}

}  // namespace

#define KASHI_UNARY(function, opcode) \
  XlaOp function(XlaOp operand) { return Unary(HloOpcode::opcode, operand); }
#define KASHI_UNARY_ACCURACY(function, opcode)                                          \
  XlaOp function(XlaOp operand, const std::optional<ResultAccuracy>& result_accuracy) { \
    return Unary(HloOpcode::opcode, operand, result_accuracy);                          \
  }
#define KASHI_BINARY(function, opcode)                                                   \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) { \
    return Binary(HloOpcode::opcode, lhs, rhs, broadcast_dimensions);                    \
  }
#define KASHI_COMPARISON(function, direction)                                                        \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) {             \
    return Compare(lhs, rhs, broadcast_dimensions, ComparisonDirection::direction);                  \
  }                                                                                                  \
  XlaOp function##TotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions) { \
    return CompareTotalOrder(lhs, rhs, broadcast_dimensions, ComparisonDirection::direction);        \
  }
#include "kashi/hlo/builder/xla_builder_ops.def"

XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction,
              Comparison::Type compare_type) {
  return CompareWith(lhs, rhs, broadcast_dimensions, direction, compare_type);
}
XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction) {
  return CompareWith(lhs, rhs, broadcast_dimensions, direction, std::nullopt);
}
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction) { return Compare(lhs, rhs, {}, direction); }

XlaOp Conj(XlaOp operand) { return Complex(Real(operand), Neg(Imag(operand))); }

XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false) {
  const absl::StatusOr<const Shape*> shape = on_true.builder()->GetShapePtr(on_true);
  if (!shape.ok() || !(*shape)->IsTuple()) return Ternary(HloOpcode::kSelect, pred, on_true, on_false);
  return Lower({pred, on_true, on_false}, [](XlaLowering& to, Nodes x) { return SelectTuple(to, x[0], x[1], x[2]); });
}

XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max) { return Ternary(HloOpcode::kClamp, min, operand, max); }

// ---- Conversions ---------------------------------------------------------------------------------------------------

XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    Node value = x[0];
    const bool was_complex = primitive_util::IsComplexType(value->shape().element_type());
    if (was_complex && !primitive_util::IsComplexType(new_element_type)) {
      KASHI_ASSIGN_OR_RETURN(value, to.AddInferred(HloInstruction::CreateUnary(Inferred(), HloOpcode::kReal, value)));
    }
    return to.Add(ShapeInference::InferConvertShape(value->shape(), new_element_type), HloOpcode::kConvert, {value});
  });
}

XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type) {
  return Lower({operand}, [&](XlaLowering& to, Nodes x) {
    return to.Add(ShapeInference::InferBitcastConvertShape(x[0]->shape(), new_element_type), HloOpcode::kBitcastConvert,
                  x);
  });
}

XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type) {
  return Lower({operand, random}, [&](XlaLowering& to, Nodes x) {
    return to.Add(ShapeInference::InferStochasticConvertShape(x[0]->shape(), x[1]->shape(), new_element_type),
                  HloOpcode::kStochasticConvert, x);
  });
}

XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits) {
  return LowerInferred({operand}, [&](Nodes x) {
    return HloInstruction::CreateReducePrecision(Inferred(), x[0], exponent_bits, mantissa_bits);
  });
}

// ---- XlaOp's operators ---------------------------------------------------------------------------------------------

XlaOp operator-(XlaOp x) { return Neg(x); }
XlaOp operator+(XlaOp x, XlaOp y) { return Add(x, y); }
XlaOp operator-(XlaOp x, XlaOp y) { return Sub(x, y); }
XlaOp operator*(XlaOp x, XlaOp y) { return Mul(x, y); }
XlaOp operator/(XlaOp x, XlaOp y) { return Div(x, y); }
XlaOp operator%(XlaOp x, XlaOp y) { return Rem(x, y); }
XlaOp operator~(XlaOp x) { return Not(x); }
XlaOp operator&(XlaOp x, XlaOp y) { return And(x, y); }
XlaOp operator|(XlaOp x, XlaOp y) { return Or(x, y); }
XlaOp operator^(XlaOp x, XlaOp y) { return Xor(x, y); }
XlaOp operator<<(XlaOp x, XlaOp y) { return ShiftLeft(x, y); }
XlaOp operator>>(XlaOp x, XlaOp y) {
  const absl::StatusOr<const Shape*> shape = x.builder()->GetShapePtr(x);
  if (!shape.ok()) return x.builder()->ReportError(shape.status());
  if (!primitive_util::IsIntegralType((*shape)->element_type())) {
    return x.builder()->ReportError(InvalidArgument("Argument to >> operator does not have an integral type (%s).",
                                                    ShapeUtil::HumanString(**shape)));
  }
  const bool is_signed = primitive_util::IsSignedIntegralType((*shape)->element_type());
  return is_signed ? ShiftRightArithmetic(x, y) : ShiftRightLogical(x, y);
}

}  // namespace kashi
