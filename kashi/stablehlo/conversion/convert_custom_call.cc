// Custom calls (docs/spec/vhlo.md 6.8).
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/attribute_text.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"

namespace kashi::stablehlo {
namespace {

struct Config {
  std::string text;
  CustomCallApiVersion version = API_VERSION_ORIGINAL;
};

// JAX writes the configuration of a typed call as the attribute `mhlo.backend_config` of an original one.
absl::StatusOr<Config> ConfigOf(const OperationConverter& c) {
  Config config;
  KASHI_ASSIGN_OR_RETURN(const int64_t version, c.Int("api_version"));
  if (version < API_VERSION_UNSPECIFIED || version > API_VERSION_TYPED_FFI) {
    return InvalidArgument("unknown api_version %d", version);
  }
  config.version = static_cast<CustomCallApiVersion>(version);
  KASHI_ASSIGN_OR_RETURN(const Attribute* attribute, c.Find("backend_config"));
  const Attribute* dictionary = c.operation().Find("mhlo.backend_config");
  if (dictionary != nullptr && dictionary->kind == Attribute::Kind::kDictionary &&
      config.version == API_VERSION_ORIGINAL) {
    config.version = API_VERSION_TYPED_FFI;
    attribute = dictionary;
  }
  if (attribute->kind == Attribute::Kind::kString) {
    config.text = std::string(attribute->text);
  } else if (attribute->kind == Attribute::Kind::kDictionary) {
    KASHI_ASSIGN_OR_RETURN(config.text, ConfigurationText(*attribute));
    if (attribute->fields.empty() && attribute != dictionary) config.text.clear();
  } else {
    return InvalidArgument("backend_config must be a string or a dictionary");
  }
  return config;
}

absl::Status SetLayout(const std::vector<int64_t>& minor_to_major, Shape* shape) {
  if (!shape->IsArray()) return absl::OkStatus();
  const Layout layout = LayoutUtil::MakeLayout(minor_to_major);
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(layout, *shape));
  *shape->mutable_layout() = layout;
  return absl::OkStatus();
}

// The operands of a call in HLO, and their numbers in StableHLO: operands that give sizes are dropped.
struct CallOperands {
  Instructions values;
  std::vector<int64_t> numbers;
  Shape shape;  // of the results
};

// `indices_of_shape_operands` lists one operand for each result: its sizes.
absl::StatusOr<CallOperands> OperandsOf(const OperationConverter& c) {
  CallOperands operands;
  std::vector<Shape> shapes;
  std::vector<int64_t> sizes_of_results;
  const Attribute* list = c.operation().Find(kShapeOperands);
  if (list != nullptr) {
    KASHI_ASSIGN_OR_RETURN(sizes_of_results, ReadInt64List(*list));
    const auto is_operand = [&c](int64_t i) { return i >= 0 && i < static_cast<int64_t>(c.operands().size()); };
    if (sizes_of_results.size() != c.operation().results.size() || !absl::c_all_of(sizes_of_results, is_operand)) {
      return InvalidArgument("%s needs the number of an operand for each result", kShapeOperands);
    }
  }
  for (size_t i = 0; i < c.operation().results.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(
        shapes.emplace_back(),
        list == nullptr ? c.ResultShape(i) : c.ResultShapeOfSizes(static_cast<size_t>(sizes_of_results[i]), i));
  }
  operands.shape = shapes.size() == 1 ? shapes[0] : ShapeUtil::MakeTupleShape(shapes);
  for (size_t i = 0; i < c.operands().size(); ++i) {
    const int64_t number = static_cast<int64_t>(i);
    if (absl::c_linear_search(sizes_of_results, number)) continue;
    operands.values.push_back(c.operand(i));
    operands.numbers.push_back(number);
  }
  return operands;
}

// A single result that is a tuple has a layout for each element.
absl::Status SetLayouts(const OperationConverter& c, const CallOperands& kept, HloInstruction* call) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* operands, c.Find("operand_layouts"));
  KASHI_ASSIGN_OR_RETURN(const Attribute* results, c.Find("result_layouts"));
  if (operands->elements.empty() && results->elements.empty()) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const auto operand_layouts, ReadInt64Lists(*operands));
  KASHI_ASSIGN_OR_RETURN(const auto result_layouts, ReadInt64Lists(*results));
  Shape* shape = call->mutable_shape();
  const int64_t results_with_layouts = shape->IsTuple() ? shape->tuple_shapes_size() : 1;
  if (operand_layouts.size() != c.operands().size() ||
      static_cast<int64_t>(result_layouts.size()) != results_with_layouts) {
    return InvalidArgument("operand_layouts and result_layouts need a layout for each operand and result");
  }
  std::vector<Shape> operand_shapes;
  for (const int64_t i : kept.numbers) {
    operand_shapes.push_back(c.operand(i)->shape());
    KASHI_RETURN_IF_ERROR(SetLayout(operand_layouts[i], &operand_shapes.back()));
  }
  for (size_t i = 0; i < result_layouts.size(); ++i) {
    Shape* result = shape->IsTuple() ? shape->mutable_tuple_shapes(static_cast<int>(i)) : shape;
    KASHI_RETURN_IF_ERROR(SetLayout(result_layouts[i], result));
  }
  call->mutable_fields()->Set<HloField::operand_shapes_with_layout>(std::move(operand_shapes));
  return absl::OkStatus();
}

absl::StatusOr<ShapeIndex> IndexField(const Attribute& alias, absl::string_view name) {
  const Attribute* field = FindField(alias, name);
  if (field == nullptr) return InvalidArgument("output_operand_aliases: no `%s`", name);
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> index, ReadInt64List(*field));
  return ShapeIndex(index.begin(), index.end());
}

absl::Status SetAliases(const OperationConverter& c, const CallOperands& kept, HloInstruction* call) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* aliases, c.Find("output_operand_aliases"));
  OutputOperandAliasingPairs pairs;
  for (const Attribute* alias : aliases->elements) {
    KASHI_ASSIGN_OR_RETURN(const ShapeIndex output, IndexField(*alias, "output_tuple_indices"));
    KASHI_ASSIGN_OR_RETURN(const ShapeIndex input, IndexField(*alias, "operand_tuple_indices"));
    const Attribute* operand = FindField(*alias, "operand_index");
    if (operand == nullptr) return InvalidArgument("output_operand_aliases: no `operand_index`");
    KASHI_ASSIGN_OR_RETURN(const int64_t number, ReadInt64(*operand));
    const auto place = absl::c_find(kept.numbers, number);
    if (place == kept.numbers.end()) return InvalidArgument("output_operand_aliases: there is no operand %d", number);
    pairs.push_back({output, {place - kept.numbers.begin(), input}});
  }
  if (!pairs.empty()) call->mutable_fields()->Set<HloField::output_operand_aliasing>(std::move(pairs));
  return absl::OkStatus();
}

// JAX's lax.approx_max_k: n arrays and their n initial values; n results with the first elements of the order of the
// called function. XLA sorts and slices where its platform has no faster form, and so do we everywhere: the results are
// exact, which any recall target allows. The form for dynamic sizes has k as the last operand.
absl::Status ConvertApproximateTopK(OperationConverter& c, const CallOperands& kept, const Attribute& config,
                                    absl::Span<HloComputation* const> computations, bool has_k) {
  const size_t count = kept.values.size() - (has_k && !kept.values.empty() ? 1 : 0), n = count / 2;
  const Attribute* dimension_field = FindField(config, "reduction_dim");
  if (n == 0 || count != 2 * n || c.operation().results.size() != n || computations.size() != 1 ||
      dimension_field == nullptr) {
    return c.Invalid("ApproxTopK needs arrays, as many initial values and results, a function and `reduction_dim`");
  }
  KASHI_ASSIGN_OR_RETURN(const int64_t dimension, ReadInt64(*dimension_field));
  const absl::Span<HloInstruction* const> arrays = absl::MakeConstSpan(kept.values).subspan(0, n);
  std::vector<Shape> shapes;
  for (const HloInstruction* array : arrays) {
    const Shape& shape = array->shape();
    const bool fits = shape.IsArray() && dimension >= 0 && dimension < shape.dimensions_size();
    if (!fits) return c.Invalid("ApproxTopK: an operand has no dimension %d", dimension);
    shapes.push_back(shape);
  }
  const Shape shape = n == 1 ? shapes[0] : ShapeUtil::MakeTupleShape(shapes);
  KASHI_ASSIGN_OR_RETURN(
      HloInstruction* const sorted,
      c.Add(HloInstruction::CreateSort(shape, dimension, arrays, computations[0], /*is_stable=*/false)));
  Instructions results;
  for (size_t i = 0; i < n; ++i) {
    HloInstruction* array = sorted;
    if (n > 1) {
      KASHI_ASSIGN_OR_RETURN(array, c.AddElement(sorted, static_cast<int64_t>(i)));
    }
    const Shape& result = n == 1 ? kept.shape : kept.shape.tuple_shapes(static_cast<int>(i));
    if (!result.IsArray() || result.is_dynamic()) return c.Invalid("ApproxTopK: result %d is no static array", i);
    const std::vector<int64_t> sizes(result.dimensions().begin(), result.dimensions().end());
    const std::vector<int64_t> starts(sizes.size(), 0), strides(sizes.size(), 1);
    KASHI_ASSIGN_OR_RETURN(results.emplace_back(),
                           c.Add(HloInstruction::CreateSlice(result, array, starts, sizes, strides)));
  }
  return c.SetResults(results);
}

}  // namespace

absl::Status ConvertCustomCall(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view target, c.String("call_target_name"));
  if (const ConversionFunction dynamic = FindDynamicCall(target); dynamic != nullptr) return dynamic(c);
  KASHI_ASSIGN_OR_RETURN(const bool is_mhlo, IsMhloCall(c));
  if (is_mhlo) return ConvertMhloCall(c);
  return ConvertPlainCustomCall(c);
}

absl::Status ConvertPlainCustomCall(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view target, c.String("call_target_name"));
  KASHI_ASSIGN_OR_RETURN(const CallOperands operands, OperandsOf(c));
  const Attribute* tilings = c.operation().Find("result_tilings");
  if (tilings != nullptr && !tilings->elements.empty()) return Unimplemented("custom calls with `result_tilings`");
  const Shape& shape = operands.shape;
  KASHI_ASSIGN_OR_RETURN(const bool has_side_effect, c.Bool("has_side_effect"));
  KASHI_ASSIGN_OR_RETURN(Config config, ConfigOf(c));
  KASHI_ASSIGN_OR_RETURN(const Attribute* called, c.Find("called_computations"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<absl::string_view> names, ReadStringList(*called));
  std::vector<HloComputation*> computations;
  for (const absl::string_view name : names) {
    KASHI_ASSIGN_OR_RETURN(computations.emplace_back(), c.module().Function(name));
  }
  const Attribute* dictionary = c.operation().Find("mhlo.backend_config");
  const bool has_k = target == "stablehlo.dynamic_approx_top_k";
  if ((has_k || target == "ApproxTopK") && dictionary != nullptr) {
    return ConvertApproximateTopK(c, operands, *dictionary, computations, has_k);
  }
  std::unique_ptr<HloInstruction> call =
      computations.empty()
          ? HloInstruction::CreateCustomCall(shape, operands.values, target, std::move(config.text), config.version)
      : computations.size() == 1
          ? HloInstruction::CreateCustomCall(shape, operands.values, computations[0], target, std::move(config.text),
                                             config.version)
          : HloInstruction::CreateCustomCall(shape, operands.values, absl::MakeConstSpan(computations), target,
                                             std::move(config.text), config.version);
  // The calls of `check` would have no effect if they could be removed.
  const bool is_expectation = absl::StartsWith(target, "check.expect_");
  if (is_expectation) KASHI_RETURN_IF_ERROR(SetExpectationLimits(c, call.get()));
  if (has_side_effect || is_expectation) call->mutable_fields()->Set<HloField::custom_call_has_side_effect>(true);
  KASHI_RETURN_IF_ERROR(SetLayouts(c, operands, call.get()));
  KASHI_RETURN_IF_ERROR(SetAliases(c, operands, call.get()));
  return c.Finish(std::move(call));
}

}  // namespace kashi::stablehlo
