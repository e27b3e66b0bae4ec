// Custom calls that JAX writes for operations that StableHLO has only with static sizes, and to check shapes.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

absl::Status CheckCallCounts(const OperationConverter& c, size_t operands, size_t results) {
  if (c.operands().size() == operands && c.operation().results.size() == results) return absl::OkStatus();
  return InvalidArgument("must have %d operands and %d results", operands, results);
}

// A condition on shapes that must hold, and values for the message. A condition that is not known stays a call.
absl::Status ConvertShapeAssertion(OperationConverter& c) {
  if (c.operands().empty() || !c.operation().results.empty()) return CheckCallCounts(c, 1, 0);
  const Literal* condition = c.module().known().Find(c.operand(0));
  if (condition == nullptr) return ConvertPlainCustomCall(c);
  if (!ShapeUtil::Compatible(condition->shape(), ShapeUtil::MakeScalarShape(PRED))) {
    return c.Invalid("the condition must be a scalar of type i1");
  }
  if (condition->Get<bool>({})) return c.SetResults({});
  const Attribute* text = c.operation().Find("error_message");
  std::string message = text == nullptr ? "the shapes of the arguments are not allowed" : std::string(text->text);
  for (size_t i = 1; i < c.operands().size(); ++i) {
    const Literal* value = c.module().known().Find(c.operand(i));
    if (value == nullptr) continue;
    message = absl::StrReplaceAll(message, {{absl::StrCat("{", i - 1, "}"), value->ToStringWithoutShapeOneline()}});
  }
  return InvalidArgument("%s", message);
}

// The result is the first operand; the other operands give its sizes.
absl::Status ConvertOperandWrapper(OperationConverter& c) {
  if (c.operands().empty()) return CheckCallCounts(c, 2, 1);
  return c.SetResults({c.operand(0)});
}

// Arrays, their initial values, and five lists of numbers.
absl::Status ConvertDynamicReduceWindow(OperationConverter& c) {
  constexpr size_t kLists = 5;
  const size_t count = c.operands().size(), n = count < kLists ? 0 : (count - kLists) / 2;
  if (n == 0 || count != 2 * n + kLists) return c.Invalid("needs arrays, as many initial values, and five lists");
  WindowLists lists;
  KASHI_ASSIGN_OR_RETURN(lists.sizes, c.KnownOperand(2 * n, "the sizes of the window"));
  KASHI_ASSIGN_OR_RETURN(lists.strides, c.KnownOperand(2 * n + 1, "the strides of the window"));
  KASHI_ASSIGN_OR_RETURN(lists.base_dilations, c.KnownOperand(2 * n + 2, "the base dilations"));
  KASHI_ASSIGN_OR_RETURN(lists.window_dilations, c.KnownOperand(2 * n + 3, "the window dilations"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> padding, c.KnownOperand(2 * n + 4, "the padding"));
  for (size_t i = 0; i + 1 < padding.size(); i += 2) lists.padding.emplace_back(padding[i], padding[i + 1]);
  KASHI_ASSIGN_OR_RETURN(const Window window, WindowOf(lists));
  KASHI_ASSIGN_OR_RETURN(const Attribute* called, c.Find("called_computations"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names, ReadStringList(*called));
  if (names.size() != 1) return c.Invalid("needs one called function");
  KASHI_ASSIGN_OR_RETURN(HloComputation* const body, c.module().Function(names[0]));
  return FinishReduceWindow(c, n, window, body);
}

absl::Status ConvertDynamicRngBitGenerator(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCallCounts(c, 2, 2));
  KASHI_ASSIGN_OR_RETURN(const Shape output, c.ResultShapeOfSizes(1, 1));
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, c.String("rng_algorithm"));
  const Shape shape = ShapeUtil::MakeTupleShape({c.operand(0)->shape(), output});
  return c.Finish(HloInstruction::CreateRngBitGenerator(shape, c.operand(0), RandomAlgorithmNamed(name)));
}

absl::Status ConvertDynamicTopK(OperationConverter& c) {
  KASHI_RETURN_IF_ERROR(CheckCallCounts(c, 2, 2));
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> k, c.KnownOperand(1, "the number of results"));
  if (k.size() != 1 || k[0] < 0) return c.Invalid("the number of results must be a scalar, and not negative");
  return c.Finish(HloInstruction::CreateTopK(shape, c.operand(0), k[0], /*largest=*/true));
}

struct DynamicCallRow {
  absl::string_view target;
  ConversionFunction convert;
};
constexpr DynamicCallRow kDynamicCalls[] = {
    {"shape_assertion", &ConvertShapeAssertion},
    {"stablehlo.dynamic_reduce_window", &ConvertDynamicReduceWindow},
    {"stablehlo.dynamic_rng_bit_generator", &ConvertDynamicRngBitGenerator},
    {"stablehlo.dynamic_top_k", &ConvertDynamicTopK},
    {"stablehlo.shape_refinement_operand_wrapper", &ConvertOperandWrapper},
};

}  // namespace

ConversionFunction FindDynamicCall(absl::string_view target) {
  for (const DynamicCallRow& row : kDynamicCalls) {
    if (row.target == target) return row.convert;
  }
  return nullptr;
}

}  // namespace kashi::stablehlo
