#include <memory>
#include <optional>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/conversion/shapes.h"

namespace kashi::stablehlo {
namespace {

absl::StatusOr<ResultAccuracy> AccuracyOf(const Attribute& record) {
  ResultAccuracy accuracy;
  const Attribute* mode = FindField(record, "mode");
  if (mode == nullptr || mode->text == "DEFAULT") return accuracy;
  if (mode->text == "HIGHEST") {
    accuracy.set_mode(ResultAccuracy::HIGHEST);
    return accuracy;
  }
  const Attribute* atol = FindField(record, "atol");
  const Attribute* rtol = FindField(record, "rtol");
  const Attribute* ulps = FindField(record, "ulps");
  if (atol == nullptr || rtol == nullptr || ulps == nullptr) return InvalidArgument("incomplete result_accuracy");
  ResultAccuracy::Tolerance& tolerance = *accuracy.mutable_tolerance();
  KASHI_ASSIGN_OR_RETURN(const double absolute, ReadDouble(*atol));
  KASHI_ASSIGN_OR_RETURN(const double relative, ReadDouble(*rtol));
  KASHI_ASSIGN_OR_RETURN(const int64_t units, ReadInt64(*ulps));
  tolerance.set_atol(absolute);
  tolerance.set_rtol(relative);
  tolerance.set_ulps(units);
  return accuracy;
}

}  // namespace

absl::Status ConvertPlain(OperationConverter& c, HloOpcode opcode) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  std::unique_ptr<HloInstruction> instruction = HloInstruction::Create(opcode, shape, c.operands());
  const Attribute* accuracy = c.operation().Find("result_accuracy");
  if (accuracy != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const ResultAccuracy value, AccuracyOf(*accuracy));
    if (!(value == ResultAccuracy())) instruction->set_result_accuracy(value);
  }
  return c.Finish(std::move(instruction));
}

// HLO has no root of complex numbers: StableHLO's is the power 1/3.
absl::Status ConvertCbrt(OperationConverter& c) {
  const Shape& shape = c.operand(0)->shape();
  if (!shape.IsArray() || !primitive_util::IsComplexType(shape.element_type())) {
    return ConvertPlain(c, HloOpcode::kCbrt);
  }
  KASHI_ASSIGN_OR_RETURN(const Literal third,
                         LiteralUtil::CreateR0<complex128>(1.0 / 3.0).Convert(shape.element_type()));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const scalar, c.Add(HloInstruction::CreateConstant(third.Clone())));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const exponent, c.Add(HloInstruction::CreateBroadcast(shape, scalar, {})));
  return c.Finish(HloInstruction::CreateBinary(shape, HloOpcode::kPower, c.operand(0), exponent));
}

// The kind of comparison follows from the operands' type; only the total order of floating-point numbers is written.
absl::Status ConvertCompare(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view direction_text, c.String("comparison_direction"));
  KASHI_ASSIGN_OR_RETURN(const ComparisonDirection direction, StringToComparisonDirection(direction_text));
  const Attribute* type = c.operation().Find("compare_type");
  std::optional<Comparison::Type> written;
  if (type != nullptr && type->text == "TOTALORDER") written = Comparison::Type::kFloatTotalOrder;
  if (!c.operand(0)->shape().IsArray()) return c.Invalid("compares arrays only");
  return c.Finish(HloInstruction::CreateCompare(shape, c.operand(0), c.operand(1), direction, written));
}

absl::Status ConvertReducePrecision(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const int64_t exponent_bits, c.Int("exponent_bits"));
  KASHI_ASSIGN_OR_RETURN(const int64_t mantissa_bits, c.Int("mantissa_bits"));
  return c.Finish(HloInstruction::CreateReducePrecision(shape, c.operand(0), static_cast<int>(exponent_bits),
                                                        static_cast<int>(mantissa_bits)));
}

namespace {

// A splat is a scalar that is broadcast, so that its size costs nothing.
absl::StatusOr<std::unique_ptr<HloInstruction>> MakeConstant(OperationConverter& c, const Attribute& value,
                                                             const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(Literal literal, LiteralOfTensor(value));
  const bool is_splat = value.is_splat && !shape.dimensions().empty();
  if (literal.shape().element_type() != shape.element_type()) return c.Invalid("value and result differ in type");
  if (!is_splat) return HloInstruction::CreateConstant(std::move(literal));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const scalar, c.Add(HloInstruction::CreateConstant(std::move(literal))));
  return HloInstruction::CreateBroadcast(shape, scalar, {});
}

}  // namespace

absl::Status ConvertConstant(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const Attribute* value, c.Find("value"));
  return c.Finish(MakeConstant(c, *value, shape));
}

absl::StatusOr<HloInstruction*> AddConstant(OperationConverter& c, const Attribute& value, const Shape& shape) {
  if (!shape.IsArray()) return c.Invalid("a constant must be an array");
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<HloInstruction> constant, MakeConstant(c, value, shape));
  return c.Add(std::move(constant));
}

absl::Status ConvertIota(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return FinishIota(c, shape);
}

absl::Status FinishIota(OperationConverter& c, const Shape& shape) {
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, c.Int("iota_dimension"));
  if (dimension < 0 || dimension >= static_cast<int64_t>(shape.dimensions().size())) {
    return c.Invalid("iota_dimension %d is not a dimension of %s", dimension, ShapeUtil::HumanString(shape));
  }
  return c.Finish(HloInstruction::CreateIota(shape, dimension));
}

absl::Status ConvertCast(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Finish(HloInstruction::CreateConvert(shape, c.operand(0)));
}

absl::Status ConvertBitcastConvert(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  return c.Finish(HloInstruction::CreateBitcastConvert(shape, c.operand(0)));
}

}  // namespace kashi::stablehlo
