// The dialects `check` and `interpreter` of StableHLO's tests, as custom calls that the evaluator knows. Both arrays of
// a check are operands, also where one is an attribute; limits are frontend attributes.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

absl::StatusOr<std::string> LimitText(const Attribute& limit) {
  if (limit.kind == Attribute::Kind::kFloat) {
    KASHI_ASSIGN_OR_RETURN(const double number, ReadDouble(limit));
    return absl::StrFormat("%.17g", number);
  }
  if (limit.kind != Attribute::Kind::kInteger) return InvalidArgument("must be a number");
  return absl::StrCat(static_cast<uint64_t>(limit.integer));
}

}  // namespace

absl::Status SetExpectationLimits(const OperationConverter& c, HloInstruction* call) {
  for (const absl::string_view name : {"tolerance", "min_ulp_difference", "max_ulp_difference"}) {
    const Attribute* limit = c.operation().Find(name);
    if (limit == nullptr) continue;
    const absl::StatusOr<std::string> text = LimitText(*limit);
    if (!text.ok()) return InvalidArgument("attribute `%s`: %s", name, text.status().message());
    call->set_frontend_attribute(name, *text);
  }
  return absl::OkStatus();
}

absl::Status ConvertExpect(OperationConverter& c) {
  if (!c.operation().results.empty()) return c.Invalid("has no results");
  absl::string_view target = c.operation().name;
  Instructions operands = c.operands();
  if (absl::ConsumeSuffix(&target, "_const") && operands.size() == 1) {
    KASHI_ASSIGN_OR_RETURN(const Attribute* value, c.Find("value"));
    KASHI_ASSIGN_OR_RETURN(operands.emplace_back(), AddConstant(c, *value, operands[0]->shape()));
  }
  if (operands.size() != 2) return c.Invalid("has a wrong number of operands");
  if (!operands[0]->shape().IsArray() || !ShapeUtil::Compatible(operands[0]->shape(), operands[1]->shape())) {
    return c.Invalid("cannot compare %s and %s", ShapeUtil::HumanString(operands[0]->shape()),
                     ShapeUtil::HumanString(operands[1]->shape()));
  }
  auto call = HloInstruction::CreateCustomCall(ShapeUtil::MakeTupleShape(std::vector<Shape>()), operands, target);
  call->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
  KASHI_RETURN_IF_ERROR(SetExpectationLimits(c, call.get()));
  return c.Finish(std::move(call));
}

// A call of all functions, those of `infeed` at the end, and the sizes of the grid. interpreter.probe is replaced by
// its operand: it only writes a file for debugging.
absl::Status ConvertRunParallel(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* programs, c.Find("programs"));
  std::vector<HloComputation*> computations;
  size_t partitions = 0;
  for (const Attribute* replica : programs->elements) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names, ReadStringList(*replica));
    if (partitions == 0) partitions = names.size();
    if (names.empty() || names.size() != partitions) {
      return c.Invalid("`programs` needs equally many functions for each replica");
    }
    for (const absl::string_view name : names) {
      KASHI_ASSIGN_OR_RETURN(computations.emplace_back(), c.module().Function(name));
    }
  }
  if (computations.empty()) return c.Invalid("`programs` names no function");
  if (const Attribute* infeed = c.operation().Find("infeed"); infeed != nullptr) {
    KASHI_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names, ReadStringList(*infeed));
    for (const absl::string_view name : names) {
      KASHI_ASSIGN_OR_RETURN(computations.emplace_back(), c.module().Function(name));
    }
  }
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  auto call = HloInstruction::CreateCustomCall(shape, c.operands(), absl::MakeConstSpan(computations),
                                               "interpreter.run_parallel",
                                               absl::StrCat(programs->elements.size(), ",", partitions));
  call->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
  return c.Finish(std::move(call));
}

// The operation only prints for debugging.
absl::Status ConvertPrint(OperationConverter& c) { return c.SetResults({}); }

}  // namespace kashi::stablehlo
