// Sums of products, linear algebra, batch normalisation.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/stablehlo/conversion/stablehlo_write_functions.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

// StableHLO has one precision for each of the two operands.
std::string PrecisionsText(const PrecisionConfig& config) {
  std::vector<std::string> precisions;
  for (int k = 0; k < 2; ++k) {
    const bool has_one = k < config.operand_precision().size();
    const PrecisionConfig::Precision precision = has_one ? config.operand_precision(k) : PrecisionConfig::DEFAULT;
    precisions.push_back(
        absl::StrCat("#stablehlo<precision ", absl::AsciiStrToUpper(PrecisionToString(precision)), ">"));
  }
  return absl::StrCat("[", absl::StrJoin(precisions, ", "), "]");
}

// StableHLO's description of an algorithm for dots (docs/spec/vhlo.md 6.4).
struct DotAlgorithm {
  PrecisionConfig::Algorithm algorithm;
  absl::string_view operand;  // empty: the type of each operand
  absl::string_view accumulation;
  int primitive_operations;
  bool is_imprecise;
};
constexpr DotAlgorithm kDotAlgorithms[] = {
    {PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32, "", "f32", 1, false},
    {PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM, "", "f32", 1, true},
    {PrecisionConfig::ALG_DOT_F16_F16_F16, "f16", "f16", 1, false},
    {PrecisionConfig::ALG_DOT_F16_F16_F32, "f16", "f32", 1, false},
    {PrecisionConfig::ALG_DOT_BF16_BF16_BF16, "bf16", "bf16", 1, false},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32, "bf16", "f32", 1, false},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X3, "bf16", "f32", 3, false},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X6, "bf16", "f32", 6, false},
    {PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9, "bf16", "f32", 9, false},
    {PrecisionConfig::ALG_DOT_TF32_TF32_F32, "tf32", "f32", 1, false},
    {PrecisionConfig::ALG_DOT_TF32_TF32_F32_X3, "tf32", "f32", 3, false},
    {PrecisionConfig::ALG_DOT_F32_F32_F32, "f32", "f32", 1, false},
    {PrecisionConfig::ALG_DOT_F64_F64_F64, "f64", "f64", 1, false},
};

absl::Status SetDotAlgorithm(const HloInstruction& i, OperationText* operation) {
  const PrecisionConfig::Algorithm algorithm = i.precision_config().algorithm();
  if (algorithm == PrecisionConfig::ALG_UNSET) return absl::OkStatus();
  for (const DotAlgorithm& row : kDotAlgorithms) {
    if (row.algorithm != algorithm) continue;
    const auto type = [&](int operand) {
      return row.operand.empty() ? ElementTypeText(i.operand(operand)->shape().element_type()) : row.operand;
    };
    operation->Set("algorithm",
                   absl::StrCat("#stablehlo.dot_algorithm<lhs_precision_type = ", type(0),
                                ", rhs_precision_type = ", type(1), ", accumulation_type = ", row.accumulation,
                                ", lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = ",
                                row.primitive_operations,
                                ", allow_imprecise_accumulation = ", row.is_imprecise ? "true" : "false", ">"));
    return absl::OkStatus();
  }
  return Unimplemented("StableHLO has no algorithm %s", AlgorithmToString(algorithm));
}

// [b, 0, 1, f]
std::string SideText(int64_t first, absl::string_view first_name, int64_t second, absl::string_view second_name,
                     absl::Span<const int64_t> spatial) {
  std::vector<std::string> places(spatial.size() + 2);
  const auto put = [&](int64_t place, std::string name) {
    if (place >= 0 && place < static_cast<int64_t>(places.size())) places[place] = std::move(name);
  };
  put(first, std::string(first_name));
  put(second, std::string(second_name));
  for (size_t k = 0; k < spatial.size(); ++k) put(spatial[k], absl::StrCat(k));
  return absl::StrCat("[", absl::StrJoin(places, ", "), "]");
}

std::string ConvolutionText(const ConvolutionDimensionNumbers& n) {
  return absl::StrCat(
      "#stablehlo.conv<",
      SideText(n.input_batch_dimension(), "b", n.input_feature_dimension(), "f", n.input_spatial_dimensions()), "x",
      SideText(n.kernel_input_feature_dimension(), "i", n.kernel_output_feature_dimension(), "o",
               n.kernel_spatial_dimensions()),
      "->", SideText(n.output_batch_dimension(), "b", n.output_feature_dimension(), "f", n.output_spatial_dimensions()),
      ">");
}

}  // namespace

absl::Status WriteDot(StableHloWriter& w, const HloInstruction& i) {
  if (i.operand_count() != 2) return Unimplemented("StableHLO has no sparse operands");
  const DotDimensionNumbers& n = i.dot_dimension_numbers();
  OperationText operation = w.Operation("stablehlo.dot_general", i);
  KASHI_RETURN_IF_ERROR(SetDotAlgorithm(i, &operation));
  operation.Set("dot_dimension_numbers",
                absl::StrCat("#stablehlo.dot<lhs_batching_dimensions = ", ListText(n.lhs_batch_dimensions()),
                             ", rhs_batching_dimensions = ", ListText(n.rhs_batch_dimensions()),
                             ", lhs_contracting_dimensions = ", ListText(n.lhs_contracting_dimensions()),
                             ", rhs_contracting_dimensions = ", ListText(n.rhs_contracting_dimensions()), ">"));
  operation.Set("precision_config", PrecisionsText(i.precision_config()));
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteConvolution(StableHloWriter& w, const HloInstruction& i) {
  std::vector<int64_t> strides, base_dilations, window_dilations;
  std::vector<std::string> reversals;
  std::vector<std::pair<int64_t, int64_t>> padding;
  for (const WindowDimension& dimension : i.window().dimensions()) {
    strides.push_back(dimension.stride());
    base_dilations.push_back(dimension.base_dilation());
    window_dilations.push_back(dimension.window_dilation());
    reversals.push_back(dimension.window_reversal() ? "true" : "false");
    padding.emplace_back(dimension.padding_low(), dimension.padding_high());
  }
  OperationText operation = w.Operation("stablehlo.convolution", i);
  operation.SetInt("batch_group_count", i.batch_group_count());
  operation.Set("dimension_numbers", ConvolutionText(i.convolution_dimension_numbers()));
  operation.SetInt("feature_group_count", i.feature_group_count());
  operation.SetInts("lhs_dilation", base_dilations);
  operation.Set("padding", PairsText(padding));
  operation.Set("precision_config", PrecisionsText(i.precision_config()));
  operation.SetInts("rhs_dilation", window_dilations);
  operation.Set("window_reversal",
                reversals.empty() ? "array<i1>" : absl::StrCat("array<i1: ", absl::StrJoin(reversals, ", "), ">"));
  operation.SetInts("window_strides", strides);
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteFft(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.fft", i);
  operation.SetInts("fft_length", i.fft_length());
  operation.SetEnum("fft_type", "fft_type", FftTypeToString(i.fft_type()));
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteCholesky(StableHloWriter& w, const HloInstruction& i) {
  OperationText operation = w.Operation("stablehlo.cholesky", i);
  operation.SetBool("lower", i.cholesky_options().lower());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteTriangularSolve(StableHloWriter& w, const HloInstruction& i) {
  const TriangularSolveOptions& options = i.triangular_solve_options();
  OperationText operation = w.Operation("stablehlo.triangular_solve", i);
  operation.SetBool("left_side", options.left_side());
  operation.SetBool("lower", options.lower());
  operation.SetEnum("transpose_a", "transpose", TransposeToString(options.transpose_a()));
  operation.SetBool("unit_diagonal", options.unit_diagonal());
  return w.WriteFor(i, std::move(operation));
}

absl::Status WriteBatchNorm(StableHloWriter& w, const HloInstruction& i) {
  const absl::string_view name = i.opcode() == HloOpcode::kBatchNormGrad        ? "stablehlo.batch_norm_grad"
                                 : i.opcode() == HloOpcode::kBatchNormInference ? "stablehlo.batch_norm_inference"
                                                                                : "stablehlo.batch_norm_training";
  OperationText operation = w.Operation(name, i);
  operation.Set("epsilon", absl::StrFormat("%.8e : f32", i.epsilon()));
  operation.SetInt("feature_index", i.feature_index());
  return w.WriteFor(i, std::move(operation));
}

}  // namespace kashi::stablehlo
