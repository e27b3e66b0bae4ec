#include "kashi/stablehlo/conversion/quantized_values.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

// Operations that move elements, forward them, or leave computing to their regions. They need one
// quantization for all quantized values, except for the dimension that has the scales.
constexpr absl::string_view kMovers[] = {"builtin.unrealized_conversion_cast",
                                         "func.call",
                                         "stablehlo.all_gather",
                                         "stablehlo.all_to_all",
                                         "stablehlo.bitcast_convert",
                                         "stablehlo.broadcast",
                                         "stablehlo.broadcast_in_dim",
                                         "stablehlo.case",
                                         "stablehlo.collective_broadcast",
                                         "stablehlo.collective_permute",
                                         "stablehlo.concatenate",
                                         "stablehlo.constant",
                                         "stablehlo.custom_call",
                                         "stablehlo.dynamic_broadcast_in_dim",
                                         "stablehlo.dynamic_gather",
                                         "stablehlo.dynamic_pad",
                                         "stablehlo.dynamic_reshape",
                                         "stablehlo.dynamic_slice",
                                         "stablehlo.dynamic_update_slice",
                                         "stablehlo.gather",
                                         "stablehlo.get_dimension_size",
                                         "stablehlo.get_tuple_element",
                                         "stablehlo.if",
                                         "stablehlo.infeed",
                                         "stablehlo.map",
                                         "stablehlo.optimization_barrier",
                                         "stablehlo.outfeed",
                                         "stablehlo.pad",
                                         "stablehlo.real_dynamic_slice",
                                         "stablehlo.recv",
                                         "stablehlo.reduce",
                                         "stablehlo.reduce_window",
                                         "stablehlo.reshape",
                                         "stablehlo.reverse",
                                         "stablehlo.scatter",
                                         "stablehlo.select",
                                         "stablehlo.select_and_scatter",
                                         "stablehlo.send",
                                         "stablehlo.set_dimension_size",
                                         "stablehlo.slice",
                                         "stablehlo.sort",
                                         "stablehlo.transpose",
                                         "stablehlo.tuple",
                                         "stablehlo.while"};

// The values of an operation that are quantized, with those of its regions' arguments.
std::vector<const Quantization*> QuantizationsOf(const Operation& operation) {
  std::vector<const Quantization*> found;
  const auto add = [&found](const Type& type) {
    if (const Quantization* quantization = QuantizationOf(type); quantization != nullptr) found.push_back(quantization);
  };
  for (const Value* operand : operation.operands) add(*operand->type);
  for (const Value& result : operation.results) add(*result.type);
  return found;
}

bool HasSameNumbers(const Quantization& a, const Quantization& b) {
  return a.scales == b.scales && a.zero_points == b.zero_points && a.is_signed == b.is_signed &&
         a.storage->element == b.storage->element && a.storage_min == b.storage_min && a.storage_max == b.storage_max;
}

// A number for each element along the dimension of the scales, in the shape of the array.
absl::StatusOr<HloInstruction*> Spread(OperationConverter& c, absl::Span<const double> numbers, int64_t dimension,
                                       const Shape& shape) {
  const bool is_one = dimension < 0;
  if (is_one ? numbers.size() != 1
             : dimension >= shape.dimensions_size() ||
                   shape.dimensions(static_cast<int>(dimension)) != static_cast<int64_t>(numbers.size())) {
    return InvalidArgument("%d scales do not fit dimension %d of %s", numbers.size(), dimension,
                           ShapeUtil::HumanString(shape));
  }
  const Literal exact = is_one ? LiteralUtil::CreateR0<double>(numbers[0]) : LiteralUtil::CreateR1<double>(numbers);
  KASHI_ASSIGN_OR_RETURN(Literal literal, exact.Convert(shape.element_type()));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const constant, c.Add(HloInstruction::CreateConstant(std::move(literal))));
  if (shape.dimensions().empty()) return constant;
  std::vector<int64_t> dimensions;
  if (!is_one) dimensions.push_back(dimension);
  return c.Add(HloInstruction::CreateBroadcast(shape, constant, dimensions));
}

absl::StatusOr<HloInstruction*> AddBinary(OperationConverter& c, HloOpcode opcode, HloInstruction* a,
                                          HloInstruction* b) {
  return c.Add(HloInstruction::CreateBinary(a->shape(), opcode, a, b));
}

absl::StatusOr<HloInstruction*> AddConvert(OperationConverter& c, HloInstruction* a, PrimitiveType type) {
  return c.Add(HloInstruction::CreateConvert(ShapeUtil::ChangeElementType(a->shape(), type), a));
}

std::vector<double> ZeroPoints(const Quantization& quantization) {
  return {quantization.zero_points.begin(), quantization.zero_points.end()};
}

bool HasZeroPoints(const Quantization& quantization) {
  return absl::c_any_of(quantization.zero_points, [](int64_t zero) { return zero != 0; });
}

// (q - zero_point) * scale. The difference is exact.
absl::StatusOr<HloInstruction*> Dequantize(OperationConverter& c, HloInstruction* storage, const Quantization& q) {
  const PrimitiveType wide = primitive_util::BitWidth(storage->shape().element_type()) < 32 ? S32 : S64;
  KASHI_ASSIGN_OR_RETURN(HloInstruction * value, AddConvert(c, storage, wide));
  if (HasZeroPoints(q)) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction* const zero, Spread(c, ZeroPoints(q), q.dimension, value->shape()));
    KASHI_ASSIGN_OR_RETURN(value, AddBinary(c, HloOpcode::kSubtract, value, zero));
  }
  KASHI_ASSIGN_OR_RETURN(value, AddConvert(c, value, q.expressed->element));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const scale, Spread(c, q.scales, q.dimension, value->shape()));
  return AddBinary(c, HloOpcode::kMultiply, value, scale);
}

// round(clamp(min, x / scale + zero_point, max)), ties to even.
absl::StatusOr<HloInstruction*> Quantize(OperationConverter& c, HloInstruction* value, const Quantization& q) {
  KASHI_ASSIGN_OR_RETURN(const PrimitiveType storage, StorageType(q));
  const Shape shape = value->shape();
  if (!shape.IsArray() || shape.element_type() != q.expressed->element) {
    return InvalidArgument("%s cannot be quantized to numbers of type %s", ShapeUtil::HumanString(shape),
                           TypeText(*q.expressed));
  }
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const scale, Spread(c, q.scales, q.dimension, shape));
  KASHI_ASSIGN_OR_RETURN(value, AddBinary(c, HloOpcode::kDivide, value, scale));
  if (HasZeroPoints(q)) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction* const zero, Spread(c, ZeroPoints(q), q.dimension, shape));
    KASHI_ASSIGN_OR_RETURN(value, AddBinary(c, HloOpcode::kAdd, value, zero));
  }
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const min, Spread(c, {static_cast<double>(q.storage_min)}, -1, shape));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const max, Spread(c, {static_cast<double>(q.storage_max)}, -1, shape));
  KASHI_ASSIGN_OR_RETURN(value, c.Add(HloInstruction::CreateTernary(shape, HloOpcode::kClamp, min, value, max)));
  KASHI_ASSIGN_OR_RETURN(value, c.Add(HloInstruction::CreateUnary(shape, HloOpcode::kRoundNearestEven, value)));
  return AddConvert(c, value, storage);
}

}  // namespace

const Quantization* QuantizationOf(const Type& type) {
  const bool is_tensor = type.kind == Type::Kind::kTensor && type.types.size() == 1;
  return is_tensor && type.types[0]->kind == Type::Kind::kQuantized ? type.types[0]->quantization : nullptr;
}

absl::StatusOr<PrimitiveType> StorageType(const Quantization& quantization) {
  const PrimitiveType type =
      quantization.storage->kind == Type::Kind::kElement ? quantization.storage->element : PRIMITIVE_TYPE_INVALID;
  constexpr std::pair<PrimitiveType, PrimitiveType> kTypes[] = {{S2, U2}, {S4, U4}, {S8, U8}, {S16, U16}, {S32, U32}};
  for (const auto& [is_signed, is_unsigned] : kTypes) {
    if (type == is_signed || type == is_unsigned) return quantization.is_signed ? is_signed : is_unsigned;
  }
  return Unimplemented("HLO has no integers of type %s to store quantized numbers", TypeText(*quantization.storage));
}

const Type* ModuleConverter::ExpressedType(const Type& type) {
  const Quantization* q = QuantizationOf(type);
  if (q == nullptr) return &type;
  const Type*& expressed = expressed_[&type];
  if (expressed != nullptr) return expressed;
  expressed_elements_.push_back(q->expressed);
  expressed_types_.push_back(type);
  expressed_types_.back().types = absl::MakeConstSpan(&expressed_elements_.back(), 1);
  return expressed = &expressed_types_.back();
}

bool ComputesQuantized(const Operation& operation) {
  const auto is_quantized = [](const Type& type) { return QuantizationOf(type) != nullptr; };
  if (absl::c_none_of(operation.operands, [&](const Value* value) { return is_quantized(*value->type); }) &&
      absl::c_none_of(operation.results, [&](const Value& value) { return is_quantized(*value.type); })) {
    return false;
  }
  if (!absl::c_linear_search(kMovers, operation.name)) return true;
  if (!operation.regions.empty() || operation.name == "func.call" || operation.name == "stablehlo.bitcast_convert" ||
      operation.name == "stablehlo.tuple" || operation.name == "stablehlo.optimization_barrier") {
    return false;
  }
  const std::vector<const Quantization*> all = QuantizationsOf(operation);
  return absl::c_any_of(all, [&](const Quantization* q) { return !HasSameNumbers(*q, *all[0]); });
}

absl::Status ConvertQuantized(ModuleConverter* module, Scope* scope, const Operation& operation,
                              const Instructions& operands, ConversionFunction convert) {
  // The operation on numbers: its own results, with the types that the quantized types express.
  std::vector<Value> results(operation.results.begin(), operation.results.end());
  for (Value& result : results) result.type = module->ExpressedType(*result.type);
  Operation plain = operation;
  plain.results = absl::MakeSpan(results);
  OperationConverter helper(module, scope, operation, operands);
  Instructions numbers = operands;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const Quantization* q = QuantizationOf(*operation.operands[i]->type);
    if (q == nullptr) continue;
    KASHI_ASSIGN_OR_RETURN(numbers[i], Dequantize(helper, numbers[i], *q));
  }
  const bool is_conversion =
      operation.name == "stablehlo.uniform_quantize" || operation.name == "stablehlo.uniform_dequantize";
  Instructions values = numbers;
  if (!is_conversion) {
    OperationConverter converter(module, scope, plain, numbers);
    KASHI_RETURN_IF_ERROR(convert(converter));
    values.clear();
    for (const Value& result : results) {
      const auto value = scope->values.find(&result);
      if (value == scope->values.end()) return InvalidArgument("a result has no value");
      values.push_back(value->second);
      scope->values.erase(value);
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Quantization* q = QuantizationOf(*operation.results[i].type);
    if (q == nullptr) continue;
    KASHI_ASSIGN_OR_RETURN(values[i], Quantize(helper, values[i], *q));
  }
  return helper.SetResults(values);
}

absl::Status ConvertUnquantized(OperationConverter& c) {
  return c.Invalid("neither its operand nor its result is quantized");
}

}  // namespace kashi::stablehlo
