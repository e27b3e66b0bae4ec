// Instructions that call computations: as regions, or as functions.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"

namespace kashi::stablehlo {
namespace {

void SetWindow(const Window& window, bool has_dilations, OperationText* operation) {
  std::vector<int64_t> sizes, strides, base_dilations, window_dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (const WindowDimension& dimension : window.dimensions()) {
    sizes.push_back(dimension.size());
    strides.push_back(dimension.stride());
    base_dilations.push_back(dimension.base_dilation());
    window_dilations.push_back(dimension.window_dilation());
    padding.emplace_back(dimension.padding_low(), dimension.padding_high());
  }
  if (has_dilations) operation->SetInts("base_dilations", base_dilations);
  operation->Set("padding", PairsText(padding));
  if (has_dilations) operation->SetInts("window_dilations", window_dilations);
  operation->SetInts("window_dimensions", sizes);
  operation->SetInts("window_strides", strides);
}

}  // namespace

absl::Status WriteReduce(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.reduce", i);
  operation.SetInts("dimensions", i.dimensions());
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteReduceWindow(StableHloWriter& w, const HloInstruction& i) {
  for (const WindowDimension& dimension : i.window().dimensions()) {
    if (dimension.window_reversal()) return Unimplemented("StableHLO reverses no windows of reductions");
  }
  OperationText operation = w.Operation("stablehlo.reduce_window", i);
  SetWindow(i.window(), /*has_dilations=*/true, &operation);
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteSelectAndScatter(StableHloWriter& w, const HloInstruction& i) {
  for (const WindowDimension& dimension : i.window().dimensions()) {
    if (dimension.window_reversal() || dimension.base_dilation() != 1 || dimension.window_dilation() != 1) {
      return Unimplemented("StableHLO has only plain windows for it");
    }
  }
  OperationText operation = w.Operation("stablehlo.select_and_scatter", i);
  SetWindow(i.window(), /*has_dilations=*/false, &operation);
  operation.regions.push_back({i.select()});
  operation.regions.push_back({i.scatter()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteMap(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.map", i);
  operation.SetInts("dimensions", i.dimensions());
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteSort(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.sort", i);
  operation.SetInt("dimension", i.dimension());
  operation.SetBool("is_stable", i.is_stable());
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteScatter(StableHloWriter& w, const HloInstruction& i) {
  const ScatterDimensionNumbers& n = i.scatter_dimension_numbers();
  OperationText operation = w.Operation("stablehlo.scatter", i);
  operation.SetBool("indices_are_sorted", i.indices_are_sorted());
  operation.Set("scatter_dimension_numbers",
                absl::StrCat("#stablehlo.scatter<update_window_dims = ", ListText(n.update_window_dims()),
                             ", inserted_window_dims = ", ListText(n.inserted_window_dims()),
                             ", input_batching_dims = ", ListText(n.input_batching_dims()),
                             ", scatter_indices_batching_dims = ", ListText(n.scatter_indices_batching_dims()),
                             ", scatter_dims_to_operand_dims = ", ListText(n.scatter_dims_to_operand_dims()),
                             ", index_vector_dim = ", n.index_vector_dim(), ">"));
  operation.SetBool("unique_indices", i.unique_indices());
  operation.regions.push_back({i.to_apply()});
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteWhile(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.while", i);
  operation.regions.push_back({i.while_condition()});
  operation.regions.push_back({i.while_body()});
  return w.WriteFor(i, std::move(operation));
}

// Branches have no arguments: they use the values of the computation around them.
absl::Status WriteConditional(StableHloWriter& w, const HloInstruction& i) {
  const bool is_if = i.operand(0)->shape().element_type() == PRED;
  OperationText operation;
  operation.name = is_if ? "stablehlo.if" : "stablehlo.case";
  w.AddOperand(*i.operand(0), &operation);
  for (int k = 0; k < i.branch_count(); ++k) {
    operation.regions.push_back({i.branch_computation(k), /*has_arguments=*/false, w.NamesOf(i.operand(k + 1))});
  }
  return w.WriteFor(i, std::move(operation));
}

namespace {

absl::Status WriteComposite(StableHloWriter& w, const HloInstruction& i) {
  const auto text = [&](absl::string_view key, absl::string_view fallback) {
    return i.get_frontend_attribute(key).value_or(std::string(fallback));
  };
  OperationText operation = w.Operation("stablehlo.composite", i);
  const std::string attributes = text("composite.attributes", "");
  operation.Set("composite_attributes", attributes.empty() ? "{}" : attributes);
  operation.Set("decomposition", w.FunctionSymbol(*i.to_apply()));
  operation.SetString("name", text("composite.name", ""));
  operation.Set("version", absl::StrCat(text("composite.version", "0"), " : i32"));
  return w.WriteFor(i, std::move(operation));
}

}  // namespace

absl::Status WriteCall(StableHloWriter& w, const HloInstruction& i) {
  if (i.is_composite()) return WriteComposite(w, i);
  OperationText operation = w.Operation("func.call", i);
  operation.Set("callee", w.FunctionSymbol(*i.to_apply()));
  return w.WriteFor(i, std::move(operation));
}

// The operations in the fusion replace it.
absl::Status WriteFusion(StableHloWriter& w, const HloInstruction& i) {
  KASHI_ASSIGN_OR_RETURN(ValueNames results,
                         w.WriteComputation(*i.fused_instructions_computation(), w.NamesOfOperands(i)));
  w.SetNames(&i, std::move(results));
  return absl::OkStatus();
}

namespace {

constexpr HloField kCustomCallFieldsWithoutForm[] = {
    HloField::window,  HloField::convolution_dimension_numbers, HloField::custom_call_schedule, HloField::padding_type,
    HloField::literal,
};

absl::StatusOr<std::string> BackendConfigText(const HloInstruction& i) {
  const std::string& config = i.opaque();
  if (i.api_version() != API_VERSION_TYPED_FFI) return QuotedText(config);
  if (config.empty()) return std::string("{}");
  if (absl::StartsWith(config, "{") && absl::EndsWith(config, "}")) return config;
  return InvalidArgument("its backend_config is no dictionary");
}

std::string AliasesText(const OutputOperandAliasingPairs& pairs) {
  std::vector<std::string> aliases;
  for (const auto& [output, operand] : pairs) {
    aliases.push_back(absl::StrCat("#stablehlo.output_operand_alias<output_tuple_indices = [",
                                   absl::StrJoin(output, ", "), "], operand_index = ", operand.first,
                                   ", operand_tuple_indices = [", absl::StrJoin(operand.second, ", "), "]>"));
  }
  return absl::StrCat("[", absl::StrJoin(aliases, ", "), "]");
}

std::string LayoutText(const Shape& shape) {
  return IndexTensorText(shape.IsArray() && shape.has_layout() ? shape.layout().minor_to_major()
                                                               : absl::Span<const int64_t>());
}

// The layouts of operands and results, if the call constrains them.
void SetLayouts(const HloInstruction& i, OperationText* operation) {
  if (!i.layout_constrained()) return;
  std::vector<std::string> operands, results;
  for (const Shape& shape : i.operand_shapes_with_layout()) {
    if (shape.IsTuple()) return;  // StableHLO's list has a layout for each operand, and tuples have none
    operands.push_back(LayoutText(shape));
  }
  const Shape& shape = i.shape();
  if (shape.IsTuple() && shape.tuple_shapes().size() != 1) {
    for (const Shape& element : shape.tuple_shapes()) {
      if (element.IsTuple()) return;
      results.push_back(LayoutText(element));
    }
  } else {
    if (shape.IsTuple()) return;
    results.push_back(LayoutText(shape));
  }
  operation->Set("operand_layouts", absl::StrCat("[", absl::StrJoin(operands, ", "), "]"));
  operation->Set("result_layouts", absl::StrCat("[", absl::StrJoin(results, ", "), "]"));
}

}  // namespace

absl::Status WriteCustomCall(StableHloWriter& w, const HloInstruction& i) {
  for (const HloField field : kCustomCallFieldsWithoutForm) {
    if (i.fields().Has(field)) return Unimplemented("StableHLO has no form for its `%s`", HloFieldName(field));
  }
  OperationText operation;
  operation.name = "stablehlo.custom_call";
  for (const HloInstruction* operand : i.operands()) {
    KASHI_RETURN_IF_ERROR(w.AddPackedOperand(*operand, &operation));
  }
  std::vector<std::string> computations;
  for (const HloComputation* computation : i.called_computations()) {
    computations.push_back(w.FunctionSymbol(*computation));
  }
  operation.SetInt32("api_version", i.api_version());
  KASHI_ASSIGN_OR_RETURN(std::string config, BackendConfigText(i));
  operation.Set("backend_config", std::move(config));
  operation.SetString("call_target_name", i.custom_call_target());
  operation.Set("called_computations", absl::StrCat("[", absl::StrJoin(computations, ", "), "]"));
  operation.SetBool("has_side_effect", i.custom_call_has_side_effect());
  SetLayouts(i, &operation);
  if (!i.output_operand_aliasing().empty()) {
    operation.Set("output_operand_aliases", AliasesText(i.output_operand_aliasing()));
  }
  return w.WriteWithElements(i, std::move(operation));
}

}  // namespace kashi::stablehlo
