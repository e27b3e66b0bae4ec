#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/chlo_expansion.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

// The table of operations has no rows for CHLO.
absl::Status CheckCounts(const OperationConverter& c, size_t operands) {
  if (c.operands().size() == operands && c.operation().results.size() == 1) return absl::OkStatus();
  return InvalidArgument("must have %d operands and one result", operands);
}

// `operation`: c.operation(), or the operation for which it stands. Formulas add instructions without checking errors,
// so the first error is kept until all instructions are there.
absl::Status ConvertAs(const Operation& operation, OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  absl::Status error;
  const auto add = [&](std::unique_ptr<HloInstruction> instruction) {
    error.Update(OperationConverter::CheckShape(*instruction));
    return c.AddUnchecked(std::move(instruction));
  };
  const absl::StatusOr<HloInstruction*> result = ExpandChlo(operation, c.operands(), shape, add);
  KASHI_RETURN_IF_ERROR(error);
  KASHI_RETURN_IF_ERROR(result.status());
  const bool is_own = !absl::c_linear_search(c.operands(), *result);  // the conjugate of a real number is the operand
  if (is_own) KASHI_RETURN_IF_ERROR(c.AddAttributesTo(*result));
  if (c.operation().results.size() != 1) return c.SetResultsToElements(*result);
  return c.SetResults({*result});
}

// Serialization writes operations of the dialect `mhlo` as custom calls with the operation's attributes in
// `mhlo.attributes`. Those that XLA reads back are of CHLO, too.
struct MhloRow {
  absl::string_view target;
  absl::string_view operation;
};
constexpr MhloRow kMhloRows[] = {
    {"mhlo.acos", "chlo.acos"},   {"mhlo.acosh", "chlo.acosh"}, {"mhlo.asin", "chlo.asin"},
    {"mhlo.asinh", "chlo.asinh"}, {"mhlo.atanh", "chlo.atanh"}, {"mhlo.cosh", "chlo.cosh"},
    {"mhlo.erf", "chlo.erf"},     {"mhlo.mulhi", "chlo.mulhi"}, {"mhlo.sinh", "chlo.sinh"},
    {"mhlo.tan", "chlo.tan"},     {"mhlo.topk", "chlo.top_k"},
};

absl::StatusOr<const MhloRow*> FindMhloRow(const OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view target, c.String("call_target_name"));
  const auto* const row = absl::c_find_if(kMhloRows, [&](const MhloRow& known) { return known.target == target; });
  return row == std::end(kMhloRows) ? nullptr : row;
}

constexpr absl::string_view kMhloAttributes = "mhlo.attributes";

}  // namespace

absl::StatusOr<bool> IsMhloCall(const OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const MhloRow* const row, FindMhloRow(c));
  const Attribute* const attributes = c.operation().Find(kMhloAttributes);
  if (row == nullptr || attributes == nullptr || attributes->kind != Attribute::Kind::kDictionary) return false;
  const Attribute* const largest = FindField(*attributes, "largest");
  if (largest == nullptr) return true;
  return ReadBool(*largest);  // XLA leaves a call that wants the smallest
}

absl::Status ConvertMhloCall(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const MhloRow* const row, FindMhloRow(c));
  Operation operation = c.operation();
  operation.name = row->operation;
  operation.attributes = operation.Find(kMhloAttributes)->fields;
  return ConvertAs(operation, c);
}

absl::Status ConvertChloConstant(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCounts(c, 0));
  return ConvertConstant(c);
}

absl::Status ConvertChloDynamicReshape(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCounts(c, 2));
  return ConvertDynamicReshape(c);
}

// Inputs, then initial values of the carries. The body takes a carry with its initial shape, and slices of the inputs.
absl::Status ConvertScan(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* attribute, c.Find("dimension"));
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, ReadInt64(*attribute));
  if (c.operation().regions.size() != 1) return c.Invalid("needs one region");
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.RegionAsComputation(0));
  const int64_t count = body->num_parameters();
  if (count != static_cast<int64_t>(c.operands().size())) {
    return c.Invalid("has %d operands, but its body takes %d", c.operands().size(), count);
  }
  int64_t inputs = 0;
  while (inputs < count && !ShapeUtil::Compatible(body->parameter_instruction(inputs)->shape(),
                                                  c.operand(static_cast<size_t>(inputs))->shape())) {
    ++inputs;
  }
  HloFieldList fields;
  fields.Set<HloField::dimensions>(Int64List{dimension});
  fields.Set<HloField::num_carries>(count - inputs);
  if (const Attribute* reverse = c.operation().Find("is_reverse"); reverse != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const bool is_reverse, ReadBool(*reverse));
    if (is_reverse) fields.Set<HloField::is_reverse>(true);
  }
  if (const Attribute* associative = c.operation().Find("is_associative"); associative != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const bool is_associative, ReadBool(*associative));
    fields.Set<HloField::is_associative>(is_associative ? TRI_STATE_TRUE : TRI_STATE_FALSE);
  }
  fields.Set<HloField::called_computations>(ComputationVector{body});
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  return c.Finish(HloInstruction::Create(HloOpcode::kScan, shape, c.operands(), std::move(fields)));
}

absl::Status ConvertChlo(OperationConverter& c) { return ConvertAs(c.operation(), c); }

}  // namespace kashi::stablehlo
