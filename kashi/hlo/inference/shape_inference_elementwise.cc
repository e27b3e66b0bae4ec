// Element-wise operations and conversions (docs/spec/hlo-ops.md, 1), tuple and sort. broadcast.h has the rules for
// sizes; the rules for element types are here.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::TypeName;

bool IsFloating(const Shape& shape) { return ShapeUtil::ElementIsFloating(shape); }
using hlo::shape_inference::IsFloatingOrComplex;
bool IsSignedOrComplex(const Shape& shape) {
  return ShapeUtil::ElementIsSigned(shape) || ShapeUtil::ElementIsComplex(shape);
}
bool IsIntegral(const Shape& shape) { return ShapeUtil::ElementIsIntegral(shape); }
bool IsNumber(const Shape& shape) { return IsIntegral(shape) || IsFloatingOrComplex(shape); }
bool IsPredOrIntegral(const Shape& shape) { return shape.element_type() == PRED || IsIntegral(shape); }

// ---------------------------------------------------------------------------------------------------------------------
// Unary
// ---------------------------------------------------------------------------------------------------------------------

Shape SameShape(const Shape& shape) { return shape; }
Shape RealShape(const Shape& shape) {
  return ShapeUtil::ElementIsComplex(shape) ? ShapeUtil::ComplexComponentShape(shape) : shape;
}
Shape PredShape(const Shape& shape) { return ShapeUtil::ChangeElementType(shape, PRED); }

// "Expected <expected> <name> operation; got F32." for an operand that is not accepted; without a name: the opcode's.
struct UnaryRule {
  HloOpcode opcode;
  bool (*accepts)(const Shape& shape);
  Shape (*result)(const Shape& shape);
  absl::string_view expected;
  absl::string_view name = "";
};
constexpr absl::string_view kFloating = "element type in shape to be floating for";
constexpr absl::string_view kFloatingOrComplex = "element type in shape to be floating or complex for";
constexpr UnaryRule kUnaryRules[] = {
    {HloOpcode::kAbs, IsSignedOrComplex, RealShape, kFloatingOrComplex},
    {HloOpcode::kAcos, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kAcosh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kAsin, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kAsinh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kAtan, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kAtanh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kCbrt, IsFloating, SameShape, kFloating},
    {HloOpcode::kCeil, IsFloating, SameShape, kFloating},
    {HloOpcode::kClz, IsIntegral, SameShape, "an integral element type in argument to", "Clz"},
    {HloOpcode::kCos, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kCosh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kErf, IsFloating, SameShape, kFloating},
    {HloOpcode::kExp, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kExp2, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kExpm1, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kFloor, IsFloating, SameShape, kFloating},
    {HloOpcode::kImag, IsFloatingOrComplex, RealShape, kFloatingOrComplex},
    {HloOpcode::kIsFinite, IsFloating, PredShape, "element type in shape to be floating point for", "IsFinite"},
    {HloOpcode::kLog, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kLog1p, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kLog2, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kLogistic, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kNegate, IsNumber, SameShape, "element type in shape to be integral, floating or complex for"},
    {HloOpcode::kNot, IsPredOrIntegral, SameShape, "pred or an integral element type in argument to", "Not"},
    {HloOpcode::kPopulationCount, IsIntegral, SameShape, "an integral element type in argument to", "PopulationCount"},
    {HloOpcode::kReal, IsFloatingOrComplex, RealShape, kFloatingOrComplex},
    {HloOpcode::kRoundNearestAfz, IsFloating, SameShape, kFloating},
    {HloOpcode::kRoundNearestEven, IsFloating, SameShape, kFloating},
    {HloOpcode::kRsqrt, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kSign, IsSignedOrComplex, SameShape, "element type in shape to be signed or complex for"},
    {HloOpcode::kSin, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kSinh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kSqrt, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kTan, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
    {HloOpcode::kTanh, IsFloatingOrComplex, SameShape, kFloatingOrComplex},
};

// ---------------------------------------------------------------------------------------------------------------------
// Binary
// ---------------------------------------------------------------------------------------------------------------------

enum class BinaryOperands { kAny, kArithmetic, kLogical, kComplexParts };
struct BinaryRule {
  HloOpcode opcode;
  BinaryOperands operands;
};
constexpr BinaryRule kBinaryRules[] = {
    {HloOpcode::kAdd, BinaryOperands::kAny},
    {HloOpcode::kAnd, BinaryOperands::kLogical},
    {HloOpcode::kAtan2, BinaryOperands::kArithmetic},
    {HloOpcode::kCompare, BinaryOperands::kAny},
    {HloOpcode::kComplex, BinaryOperands::kComplexParts},
    {HloOpcode::kDivide, BinaryOperands::kArithmetic},
    {HloOpcode::kMaximum, BinaryOperands::kAny},
    {HloOpcode::kMinimum, BinaryOperands::kAny},
    {HloOpcode::kMulhi, BinaryOperands::kAny},
    {HloOpcode::kMultiply, BinaryOperands::kAny},
    {HloOpcode::kOr, BinaryOperands::kLogical},
    {HloOpcode::kPower, BinaryOperands::kArithmetic},
    {HloOpcode::kRemainder, BinaryOperands::kArithmetic},
    {HloOpcode::kShiftLeft, BinaryOperands::kArithmetic},
    {HloOpcode::kShiftRightArithmetic, BinaryOperands::kArithmetic},
    {HloOpcode::kShiftRightLogical, BinaryOperands::kArithmetic},
    {HloOpcode::kSubtract, BinaryOperands::kArithmetic},
    {HloOpcode::kXor, BinaryOperands::kLogical},
};

template <typename Rule, size_t n>
const Rule* FindRule(const Rule (&rules)[n], HloOpcode opcode) {
  const Rule* rule = std::find_if(rules, rules + n, [&](const Rule& r) { return r.opcode == opcode; });
  return rule == rules + n ? nullptr : rule;
}

absl::Status CheckBinaryOperands(const BinaryRule& rule, const Shape& lhs, const Shape& rhs) {
  switch (rule.operands) {
    case BinaryOperands::kAny:
      break;
    case BinaryOperands::kArithmetic:
      if (lhs.element_type() == PRED || rhs.element_type() == PRED) {
        return InvalidArgument("Expected element type in shape to be arithmetic type for operation %s; got PRED.",
                               HloOpcodeString(rule.opcode));
      }
      break;
    case BinaryOperands::kLogical:
      if (!IsPredOrIntegral(lhs)) {
        return InvalidArgument("Expected pred or integral type in argument to and/or operation; got %s.",
                               TypeName(lhs));
      }
      break;
    case BinaryOperands::kComplexParts:
      if (!IsFloating(lhs)) {
        return InvalidArgument("Expected element type in shape to be floating for complex compose operation; got %s.",
                               TypeName(lhs));
      }
      break;
  }
  // If the operand types differ, a later check reports that.
  if (rule.opcode == HloOpcode::kAtan2 && ShapeUtil::SameElementTypeIgnoringFpPrecision(lhs, rhs) &&
      !IsFloatingOrComplex(lhs)) {
    return InvalidArgument("Expected input element type to be floating or complex for atan2 operation; got %s.",
                           TypeName(lhs));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shape> ComplexOf(const Shape& parts, const Shape& lhs, const Shape& rhs) {
  const PrimitiveType type = lhs.element_type() == rhs.element_type() ? primitive_util::ComplexType(lhs.element_type())
                                                                      : PRIMITIVE_TYPE_INVALID;
  if (type == PRIMITIVE_TYPE_INVALID) return Unimplemented("Complex component type is not implemented.");
  return ShapeUtil::ChangeElementType(parts, type);
}

absl::StatusOr<Shape> InferSortShape(absl::Span<const Shape* const> operands) {
  if (operands.size() == 1) return *operands[0];
  for (size_t i = 0; i < operands.size(); ++i) {
    KASHI_RETURN_IF_ERROR(ExpectArray(*operands[i], "operand of sort"));
    if (!ShapeUtil::SameDimensions(*operands[0], *operands[i])) {
      return InvalidArgument(
          "Sort keys and values dimensions must match. Keys shape is: %s\n, Values shape (operand index %d) is: %s",
          ShapeUtil::HumanString(*operands[0]), i, ShapeUtil::HumanString(*operands[i]));
    }
  }
  return ShapeUtil::MakeTupleShapeWithPtrs(operands);
}

// PRED takes a byte.
int64_t WidthInMemory(PrimitiveType type) { return type == PRED ? 8 : primitive_util::BitWidth(type); }

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferUnaryOpShape(HloOpcode opcode, const Shape& shape) {
  if (opcode == HloOpcode::kCopy || opcode == HloOpcode::kDomain) return shape;
  KASHI_RETURN_IF_ERROR(ExpectArray(shape, "operand of unary operation"));
  const UnaryRule* rule = FindRule(kUnaryRules, opcode);
  if (rule == nullptr) {
    return InvalidArgument("Unknown operation for unary shape inference: \"%s\".", HloOpcodeString(opcode));
  }
  if (!rule->accepts(shape)) {
    return InvalidArgument("Expected %s %s operation; got %s.", rule->expected,
                           rule->name.empty() ? HloOpcodeString(opcode) : rule->name, TypeName(shape));
  }
  return rule->result(shape);
}

absl::StatusOr<Shape> ShapeInference::InferBinaryOpShape(HloOpcode opcode, const Shape& lhs, const Shape& rhs,
                                                         absl::Span<const int64_t> broadcast_dimensions) {
  const absl::string_view name = HloOpcodeString(opcode);
  const BinaryRule* rule = FindRule(kBinaryRules, opcode);
  if (rule == nullptr) {
    return Unimplemented("Binary op shape inference: %s; lhs: %s; rhs: %s is not implemented.", name,
                         ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
  }
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, absl::StrCat("lhs of binary operation ", name)));
  KASHI_RETURN_IF_ERROR(ExpectArray(rhs, absl::StrCat("rhs of binary operation ", name)));
  KASHI_RETURN_IF_ERROR(CheckBinaryOperands(*rule, lhs, rhs));
  KASHI_ASSIGN_OR_RETURN(Shape result, InferElementwiseBinaryShape(name, lhs, rhs, broadcast_dimensions));
  if (opcode == HloOpcode::kCompare) return PredShape(result);
  if (opcode == HloOpcode::kComplex) return ComplexOf(result, lhs, rhs);
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferTernaryOpShape(HloOpcode opcode, const Shape& lhs, const Shape& rhs,
                                                          const Shape& ehs) {
  if (opcode == HloOpcode::kClamp) return InferClampShape(lhs, rhs, ehs);
  if (opcode == HloOpcode::kSelect) return InferSelectShape(lhs, rhs, ehs);
  return InvalidArgument("Unknown operation %s.", HloOpcodeString(opcode));
}

absl::StatusOr<Shape> ShapeInference::InferVariadicOpShape(HloOpcode opcode,
                                                           absl::Span<const Shape* const> operand_shapes) {
  if (opcode == HloOpcode::kTuple) return ShapeUtil::MakeTupleShapeWithPtrs(operand_shapes);
  if (opcode == HloOpcode::kSort) return InferSortShape(operand_shapes);
  return InvalidArgument("Unknown operation %s.", HloOpcodeString(opcode));
}

absl::StatusOr<std::optional<Shape>> ShapeInference::InferScalarBroadcastShape(absl::Span<const Shape> shapes) {
  std::optional<Shape> result;
  for (const Shape& shape : shapes) {
    if (!shape.IsArray() || ShapeUtil::IsScalar(shape)) continue;
    if (!result.has_value()) result = shape;
    KASHI_RET_CHECK(ShapeUtil::SameDimensions(*result, shape), "Unimplemented implicit broadcast.");
  }
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferConvertShape(const Shape& operand_shape, PrimitiveType new_element_type) {
  if (!operand_shape.IsArrayExcludingBuffer() || !primitive_util::IsArrayType(new_element_type)) {
    return InvalidArgument("Convert does not allow non-arrays, so cannot convert from %s to %s.",
                           ShapeUtil::HumanString(operand_shape), PrimitiveType_Name(new_element_type));
  }
  return ShapeUtil::ChangeElementType(operand_shape, new_element_type);
}

absl::StatusOr<Shape> ShapeInference::InferBitcastConvertShape(const Shape& operand_shape,
                                                               PrimitiveType new_element_type) {
  const PrimitiveType old_element_type = operand_shape.element_type();
  const std::string from = ShapeUtil::HumanString(operand_shape);
  const std::string& to = PrimitiveType_Name(new_element_type);
  if (primitive_util::IsComplexType(old_element_type) != primitive_util::IsComplexType(new_element_type)) {
    return InvalidArgument("Conversion between complex and real type %s => %s.", from, to);
  }
  if (!operand_shape.IsArrayExcludingBuffer() || !primitive_util::IsArrayType(new_element_type)) {
    return InvalidArgument("Cannot convert from or to tuple type; requested conversion: %s => %s.", from, to);
  }
  const int64_t old_width = WidthInMemory(old_element_type), new_width = WidthInMemory(new_element_type);
  const int64_t ratio = std::max(old_width, new_width) / std::min(old_width, new_width);
  if (std::max(old_width, new_width) % std::min(old_width, new_width) != 0) {
    return InvalidArgument("Cannot bitcast types with undivisible bit-widths: %s => %s.", from, to);
  }
  Shape result = ShapeUtil::ChangeElementType(operand_shape, new_element_type);
  if (new_width < old_width) {
    ShapeUtil::AppendMinorDimension(static_cast<int>(ratio), &result);
  } else if (new_width > old_width) {
    const int last = operand_shape.dimensions_size() - 1;
    if (last < 0 || operand_shape.dimensions(last) != ratio) {
      return InvalidArgument(
          "Last dimension of input shape=%d is not equal to ratio of bit-widths=%d for bitcast-convert from %s to %s",
          last < 0 ? -1 : operand_shape.dimensions(last), ratio, from, to);
    }
    result.DeleteDimension(last);
  }
  // Packed types take more bytes unpacked than the type that they were cut from.
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(result));
  return result;
}

absl::StatusOr<Shape> ShapeInference::InferStochasticConvertShape(const Shape& operand_shape, const Shape& random_shape,
                                                                  PrimitiveType new_element_type) {
  KASHI_RETURN_IF_ERROR(ExpectArray(operand_shape, "operand of stochastic convert"));
  KASHI_RETURN_IF_ERROR(ExpectArray(random_shape, "random of stochastic convert"));
  if (!primitive_util::IsUnsignedIntegralType(random_shape.element_type())) {
    return InvalidArgument("Random numbers for stochastic convert must be unsigned integers, but got: %s",
                           ShapeUtil::HumanString(random_shape));
  }
  if (!IsFloating(operand_shape)) {
    return InvalidArgument("Stochastic convert supports only floating point operand conversion, but got: %s",
                           ShapeUtil::HumanString(operand_shape));
  }
  const int operand_bits = primitive_util::BitWidth(operand_shape.element_type());
  const int random_bits = primitive_util::BitWidth(random_shape.element_type());
  if (operand_bits != random_bits) {
    return InvalidArgument(
        "The random number is required to have same bits as the operand. But got random bits: %d, operand bits: %d",
        random_bits, operand_bits);
  }
  if (!ShapeUtil::EqualIgnoringElementType(operand_shape, random_shape)) {
    return InvalidArgument("Stochastic convert operand shape does not match random tensor shape: %s vs %s",
                           ShapeUtil::HumanString(operand_shape), ShapeUtil::HumanString(random_shape));
  }
  return InferConvertShape(operand_shape, new_element_type);
}

absl::StatusOr<Shape> ShapeInference::InferReducePrecisionShape(const Shape& operand_shape, int exponent_bits,
                                                                int mantissa_bits) {
  if (!IsFloating(operand_shape)) {
    return InvalidArgument("Expected element type in shape to be floating point for ReducePrecision operation; got %s.",
                           TypeName(operand_shape));
  }
  if (exponent_bits < 1) return InvalidArgument("Expected exponent_bits >= 1; got %d.", exponent_bits);
  if (mantissa_bits < 0) return InvalidArgument("Expected non-negative mantissa_bits; got %d.", mantissa_bits);
  return operand_shape;
}

}  // namespace kashi
