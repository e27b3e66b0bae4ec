#include "kashi/stablehlo/conversion/chlo_expansion.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/chlo_functions.h"
#include "kashi/stablehlo/program/attribute_access.h"

namespace kashi::stablehlo {
namespace {

struct ChloCall {
  const Operation& operation;
  std::vector<HloInstruction*> operands;
  Shape result;
  InstructionAdder add;
};

struct ChloRow;
using ChloExpander = absl::StatusOr<HloInstruction*> (*)(const ChloRow& row, ChloCall& call);

struct ChloRow {
  absl::string_view name;  // without "chlo."
  int operands;
  ChloExpander expand;
  HloOpcode opcode = HloOpcode::kAdd;  // of operations that have one
  Term (*unary)(Term) = nullptr;       // the formula
  Term (*binary)(Term, Term) = nullptr;
  bool in_f32 = false;  // narrower types are computed in f32
  bool takes_complex = false;
};

// ---- Formulas ------------------------------------------------------------------------------------------------------

absl::Status CheckFormulaOperands(const ChloRow& row, const ChloCall& call) {
  const Shape& first = call.operands[0]->shape();
  for (const HloInstruction* operand : call.operands) {
    const Shape& shape = operand->shape();
    if (!shape.IsArray() || shape.is_dynamic() || !ShapeUtil::Compatible(shape, first)) {
      return InvalidArgument("chlo.%s needs operands of one type and static sizes, but has %s and %s", row.name,
                             first.ToString(), shape.ToString());
    }
  }
  const PrimitiveType type = first.element_type();
  const bool is_complex = primitive_util::IsComplexType(type);
  if (is_complex ? row.takes_complex : primitive_util::IsFloatingPointType(type)) return absl::OkStatus();
  return InvalidArgument("chlo.%s has no form for %s", row.name, first.ToString());
}

absl::StatusOr<HloInstruction*> ExpandFormula(const ChloRow& row, ChloCall& call) {
  KASHI_RETURN_IF_ERROR(CheckFormulaOperands(row, call));
  const Shape& shape = call.operands[0]->shape();
  const PrimitiveType type = shape.element_type();
  const bool widens = row.in_f32 && !primitive_util::IsComplexType(type) && primitive_util::BitWidth(type) < 32;
  TermScope scope(shape, call.add);
  const auto operand = [&](int i) { return Convert(scope.Of(call.operands[i]), widens ? F32 : type); };
  const Term value = row.unary != nullptr ? row.unary(operand(0)) : row.binary(operand(0), operand(1));
  return (widens ? Convert(value, type) : value).instruction();
}

// ---- Operations that HLO has ---------------------------------------------------------------------------------------

// Sizes that the result's type does not give are those of the operand.
void TakeSizesOfOperand(ChloCall& call) {
  const Shape& operand = call.operands[0]->shape();
  if (!call.result.IsArray() || !call.result.is_unbounded_dynamic() || !operand.IsArray()) return;
  call.result = ShapeUtil::ChangeElementType(operand, call.result.element_type());
}

absl::StatusOr<HloInstruction*> ExpandOpcode(const ChloRow& row, ChloCall& call) {
  TakeSizesOfOperand(call);
  return call.add(HloInstruction::Create(row.opcode, call.result, call.operands));
}

absl::StatusOr<HloInstruction*> ExpandTopK(const ChloRow&, ChloCall& call) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* attribute, FindAttribute(call.operation, "k"));
  KASHI_ASSIGN_OR_RETURN(const int64_t k, ReadInt64(*attribute));
  KASHI_ASSIGN_OR_RETURN(call.result, ShapeInference::InferTopKShape(call.operands[0]->shape(), k));
  return call.add(HloInstruction::CreateTopK(call.result, call.operands[0], k, /*largest=*/true));
}

// ---- Constants -----------------------------------------------------------------------------------------------------

// The value is a number in the element type of the operand.
absl::StatusOr<HloInstruction*> ExpandConstantLike(const ChloRow&, ChloCall& call) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* value, FindAttribute(call.operation, "value"));
  TakeSizesOfOperand(call);
  if (!call.result.IsArray() || call.result.is_dynamic()) {
    return InvalidArgument("chlo.constant_like needs an array of static sizes, but has %s", call.result.ToString());
  }
  const PrimitiveType type = call.result.element_type();
  TermScope scope(call.result, call.add);
  if (value->kind == Attribute::Kind::kFloat) {
    KASHI_ASSIGN_OR_RETURN(const double number, ReadDouble(*value));
    return scope.Constant(type, number).instruction();
  }
  KASHI_ASSIGN_OR_RETURN(const int64_t number, ReadInt64(*value));
  return scope.Integer(type, static_cast<uint64_t>(number)).instruction();
}

// ---- Operations that broadcast their operands ----------------------------------------------------------------------

// The dimensions of the result to which an operand's dimensions map: the last ones, or those in the attribute for the
// operand of the smaller rank.
absl::StatusOr<std::vector<int64_t>> BroadcastDimensions(const ChloCall& call, int64_t rank) {
  const int64_t result_rank = call.result.dimensions_size();
  const Attribute* const attribute = call.operation.Find("broadcast_dimensions");
  std::vector<int64_t> dimensions;
  if (attribute != nullptr && rank < result_rank) {
    KASHI_ASSIGN_OR_RETURN(dimensions, ReadInt64List(*attribute));
  } else {
    for (int64_t i = 0; i < rank; ++i) dimensions.push_back(result_rank - rank + i);
  }
  const bool fits = static_cast<int64_t>(dimensions.size()) == rank &&
                    std::is_sorted(dimensions.begin(), dimensions.end(), std::less_equal<>()) &&
                    (rank == 0 || (dimensions.front() >= 0 && dimensions.back() < result_rank));
  if (fits) return dimensions;
  return InvalidArgument("%s: an operand of rank %d does not broadcast to %s", call.operation.name, rank,
                         call.result.ToString());
}

// Dimensions of size 1 that grow are reshaped away first, because HLO's broadcast does not stretch.
absl::StatusOr<HloInstruction*> BroadcastOperand(ChloCall& call, HloInstruction* operand) {
  const Shape& shape = operand->shape();
  if (!shape.IsArray()) return InvalidArgument("%s: an operand is no array", call.operation.name);
  if (shape.dimensions() == call.result.dimensions()) return operand;
  if (shape.is_dynamic() || call.result.is_dynamic()) {
    return InvalidArgument("%s: %s does not broadcast to %s, because sizes are dynamic", call.operation.name,
                           shape.ToString(), call.result.ToString());
  }
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, BroadcastDimensions(call, shape.dimensions_size()));
  std::vector<int64_t> kept, sizes;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t size = shape.dimensions(i), target = call.result.dimensions(dimensions[i]);
    if (size != target && size != 1) {
      return InvalidArgument("%s: %s does not broadcast to %s", call.operation.name, shape.ToString(),
                             call.result.ToString());
    }
    if (size != target) continue;
    kept.push_back(dimensions[i]);
    sizes.push_back(size);
  }
  const PrimitiveType type = shape.element_type();
  if (sizes.size() != dimensions.size()) {
    operand = call.add(HloInstruction::CreateReshape(ShapeUtil::MakeShape(type, sizes), operand));
  }
  return call.add(HloInstruction::CreateBroadcast(ShapeUtil::MakeShape(type, call.result.dimensions()), operand, kept));
}

// Sizes that the result's type does not give are those of the operands' dimensions there; a size of 1 yields to others.
absl::Status TakeBroadcastSizes(ChloCall& call) {
  std::vector<int64_t> sizes(call.result.dimensions().begin(), call.result.dimensions().end());
  for (int64_t& size : sizes) size = size == Shape::kUnboundedSize ? 1 : size;
  for (const HloInstruction* operand : call.operands) {
    const Shape& shape = operand->shape();
    if (!shape.IsArray()) return InvalidArgument("%s: an operand is no array", call.operation.name);
    KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> dimensions, BroadcastDimensions(call, shape.dimensions_size()));
    for (size_t i = 0; i < dimensions.size(); ++i) {
      const int64_t size = shape.dimensions(static_cast<int>(i));
      if (size != 1) sizes[dimensions[i]] = size;
    }
  }
  KASHI_ASSIGN_OR_RETURN(call.result, ShapeUtil::MakeValidatedShape(call.result.element_type(), sizes));
  return absl::OkStatus();
}

absl::Status BroadcastOperands(ChloCall& call) {
  if (!call.result.IsArray()) return InvalidArgument("%s: the result is no array", call.operation.name);
  if (call.result.is_unbounded_dynamic()) KASHI_RETURN_IF_ERROR(TakeBroadcastSizes(call));
  for (HloInstruction*& operand : call.operands) {
    KASHI_ASSIGN_OR_RETURN(operand, BroadcastOperand(call, operand));
  }
  return absl::OkStatus();
}

absl::StatusOr<HloInstruction*> ExpandBroadcastOpcode(const ChloRow& row, ChloCall& call) {
  KASHI_RETURN_IF_ERROR(BroadcastOperands(call));
  return ExpandOpcode(row, call);
}

absl::StatusOr<HloInstruction*> ExpandBroadcastFormula(const ChloRow& row, ChloCall& call) {
  KASHI_RETURN_IF_ERROR(BroadcastOperands(call));
  return ExpandFormula(row, call);
}

absl::StatusOr<HloInstruction*> ExpandBroadcastCompare(const ChloRow&, ChloCall& call) {
  KASHI_RETURN_IF_ERROR(BroadcastOperands(call));
  KASHI_ASSIGN_OR_RETURN(const Attribute* attribute, FindAttribute(call.operation, "comparison_direction"));
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, ReadString(*attribute));
  KASHI_ASSIGN_OR_RETURN(const ComparisonDirection direction, StringToComparisonDirection(name));
  std::optional<Comparison::Type> type;
  if (const Attribute* order = call.operation.Find("compare_type"); order != nullptr && order->text == "TOTALORDER") {
    type = Comparison::Type::kFloatTotalOrder;
  }
  return call.add(HloInstruction::CreateCompare(call.result, call.operands[0], call.operands[1], direction, type));
}

// --------------------------------------------------------------------------------------------------------------------

constexpr ChloRow ElementwiseRow(absl::string_view name, int operands, HloOpcode opcode) {
  return {name, operands, &ExpandOpcode, opcode};
}
constexpr ChloRow BroadcastRow(absl::string_view name, HloOpcode opcode, int operands = 2) {
  return {name, operands, &ExpandBroadcastOpcode, opcode};
}
// Flags of formulas.
constexpr bool kInF32 = true, kInItsType = false, kRealOnly = false, kRealOrComplex = true;
constexpr ChloRow FormulaRow(absl::string_view name, Term (*formula)(Term), bool in_f32, bool takes_complex) {
  return {name, 1, &ExpandFormula, HloOpcode::kAdd, formula, nullptr, in_f32, takes_complex};
}
constexpr ChloRow FormulaRow(absl::string_view name, Term (*formula)(Term, Term), bool in_f32) {
  return {name, 2, &ExpandFormula, HloOpcode::kAdd, nullptr, formula, in_f32, kRealOnly};
}
constexpr ChloRow BroadcastFormulaRow(absl::string_view name, Term (*formula)(Term, Term), bool in_f32) {
  return {name, 2, &ExpandBroadcastFormula, HloOpcode::kAdd, nullptr, formula, in_f32, kRealOnly};
}

constexpr ChloRow kChloRows[] = {
    ElementwiseRow("erf", 1, HloOpcode::kErf),
    ElementwiseRow("mulhi", 2, HloOpcode::kMulhi),
    ElementwiseRow("tan", 1, HloOpcode::kTan),
    FormulaRow("_asin_acos_kernel", &AsinAcosKernel, kInItsType, kRealOrComplex),
    FormulaRow("acos", &Acos, kInItsType, kRealOrComplex),
    FormulaRow("acosh", &Acosh, kInItsType, kRealOrComplex),
    FormulaRow("asin", &Asin, kInItsType, kRealOrComplex),
    FormulaRow("asinh", &Asinh, kInItsType, kRealOrComplex),
    FormulaRow("atan", &Atan, kInItsType, kRealOrComplex),
    FormulaRow("atanh", &Atanh, kInItsType, kRealOrComplex),
    FormulaRow("bessel_i1e", &BesselI1e, kInF32, kRealOnly),
    FormulaRow("conj", &Conj, kInItsType, kRealOrComplex),
    FormulaRow("cosh", &Cosh, kInF32, kRealOrComplex),
    FormulaRow("digamma", &Digamma, kInF32, kRealOnly),
    FormulaRow("erf_inv", &ErfInv, kInF32, kRealOnly),
    FormulaRow("erfc", &Erfc, kInF32, kRealOnly),
    FormulaRow("is_inf", &IsInf, kInItsType, kRealOnly),
    FormulaRow("is_neg_inf", &IsNegInf, kInItsType, kRealOnly),
    FormulaRow("is_pos_inf", &IsPosInf, kInItsType, kRealOnly),
    FormulaRow("lgamma", &Lgamma, kInF32, kRealOnly),
    FormulaRow("sinh", &Sinh, kInF32, kRealOrComplex),
    FormulaRow("square", &Square, kInItsType, kRealOrComplex),
    FormulaRow("next_after", &NextAfter, kInItsType),
    FormulaRow("polygamma", &Polygamma, kInF32),
    FormulaRow("zeta", &Zeta, kInF32),
    {"constant_like", 1, &ExpandConstantLike},
    {"top_k", 1, &ExpandTopK},
    {"broadcast_compare", 2, &ExpandBroadcastCompare},
    BroadcastRow("broadcast_add", HloOpcode::kAdd),
    BroadcastRow("broadcast_and", HloOpcode::kAnd),
    BroadcastRow("broadcast_atan2", HloOpcode::kAtan2),
    BroadcastRow("broadcast_complex", HloOpcode::kComplex),
    BroadcastRow("broadcast_divide", HloOpcode::kDivide),
    BroadcastRow("broadcast_maximum", HloOpcode::kMaximum),
    BroadcastRow("broadcast_minimum", HloOpcode::kMinimum),
    BroadcastRow("broadcast_multiply", HloOpcode::kMultiply),
    BroadcastRow("broadcast_or", HloOpcode::kOr),
    BroadcastRow("broadcast_power", HloOpcode::kPower),
    BroadcastRow("broadcast_remainder", HloOpcode::kRemainder),
    BroadcastRow("broadcast_select", HloOpcode::kSelect, 3),
    BroadcastRow("broadcast_shift_left", HloOpcode::kShiftLeft),
    BroadcastRow("broadcast_shift_right_arithmetic", HloOpcode::kShiftRightArithmetic),
    BroadcastRow("broadcast_shift_right_logical", HloOpcode::kShiftRightLogical),
    BroadcastRow("broadcast_subtract", HloOpcode::kSubtract),
    BroadcastRow("broadcast_xor", HloOpcode::kXor),
    BroadcastFormulaRow("broadcast_next_after", &NextAfter, kInItsType),
    BroadcastFormulaRow("broadcast_polygamma", &Polygamma, kInF32),
    BroadcastFormulaRow("broadcast_zeta", &Zeta, kInF32),
};

const ChloRow* FindChloRow(absl::string_view name) {
  constexpr absl::string_view kPrefix = "chlo.";
  if (name.substr(0, kPrefix.size()) != kPrefix) return nullptr;
  name.remove_prefix(kPrefix.size());
  const ChloRow* const found =
      std::find_if(std::begin(kChloRows), std::end(kChloRows), [&](const ChloRow& row) { return row.name == name; });
  return found == std::end(kChloRows) ? nullptr : found;
}

}  // namespace

bool IsChloOperation(absl::string_view name) { return FindChloRow(name) != nullptr; }

absl::StatusOr<HloInstruction*> ExpandChlo(const Operation& operation, absl::Span<HloInstruction* const> operands,
                                           const Shape& result_shape, InstructionAdder add) {
  const ChloRow* const row = FindChloRow(operation.name);
  if (row == nullptr) return Unimplemented("no form in HLO is known for %s", operation.name);
  if (static_cast<int>(operands.size()) != row->operands) {
    return InvalidArgument("%s has %s, but needs %d", operation.name,
                           base::Count(static_cast<int64_t>(operands.size()), "operand"), row->operands);
  }
  ChloCall call = {operation, {operands.begin(), operands.end()}, result_shape, add};
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const result, row->expand(*row, call));
  if (result_shape.IsTuple() || result_shape.is_unbounded_dynamic()) return result;  // the caller compares
  if (ShapeUtil::Compatible(result->shape(), result_shape)) return result;
  return InvalidArgument("%s gives %s, but its type says %s", operation.name, result->shape().ToString(),
                         result_shape.ToString());
}

}  // namespace kashi::stablehlo
