// Sums of products, linear algebra, batch normalisation.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/window_util.h"
#include "kashi/literal/literal_util.h"
#include "kashi/stablehlo/conversion/convert_functions.h"
#include "kashi/stablehlo/conversion/converter.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

int64_t DotRank(const HloInstruction* array) { return static_cast<int64_t>(array->shape().dimensions().size()); }

// One row of XLA's list of algorithms (docs/spec/vhlo.md 6.4).
struct AlgorithmRow {
  absl::string_view operand;
  absl::string_view accumulation;
  int64_t primitive_operations;
  bool is_imprecise;
  PrecisionConfig::Algorithm algorithm;
};
constexpr AlgorithmRow kAlgorithms[] = {
    {"f8", "f32", 1, false, PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32},
    {"f8", "f32", 1, true, PrecisionConfig::ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM},
    {"f16", "f16", 1, false, PrecisionConfig::ALG_DOT_F16_F16_F16},
    {"f16", "f32", 1, false, PrecisionConfig::ALG_DOT_F16_F16_F32},
    {"bf16", "bf16", 1, false, PrecisionConfig::ALG_DOT_BF16_BF16_BF16},
    {"bf16", "f32", 1, false, PrecisionConfig::ALG_DOT_BF16_BF16_F32},
    {"bf16", "f32", 3, false, PrecisionConfig::ALG_DOT_BF16_BF16_F32_X3},
    {"bf16", "f32", 6, false, PrecisionConfig::ALG_DOT_BF16_BF16_F32_X6},
    {"bf16", "f32", 9, false, PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9},
    {"tf32", "f32", 1, false, PrecisionConfig::ALG_DOT_TF32_TF32_F32},
    {"tf32", "f32", 3, false, PrecisionConfig::ALG_DOT_TF32_TF32_F32_X3},
    {"f32", "f32", 1, false, PrecisionConfig::ALG_DOT_F32_F32_F32},
    {"f64", "f64", 1, false, PrecisionConfig::ALG_DOT_F64_F64_F64},
};

// The name of a precision type; all types of 8-bit floating-point numbers count as one.
absl::StatusOr<std::string> PrecisionTypeName(const OperationConverter& c, absl::string_view attribute) {
  KASHI_ASSIGN_OR_RETURN(const Attribute* value, c.Find(attribute));
  if (value->type == nullptr || value->type->kind == Type::Kind::kNone) return std::string();
  const std::string name = TypeText(*value->type);
  return absl::StartsWith(name, "f8") ? std::string("f8") : name;
}

absl::StatusOr<PrecisionConfig::Algorithm> AlgorithmOf(const OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const std::string lhs, PrecisionTypeName(c, "lhs_precision_type"));
  if (lhs.empty()) return PrecisionConfig::ALG_UNSET;
  KASHI_ASSIGN_OR_RETURN(const std::string rhs, PrecisionTypeName(c, "rhs_precision_type"));
  KASHI_ASSIGN_OR_RETURN(const std::string accumulation, PrecisionTypeName(c, "accumulation_type"));
  KASHI_ASSIGN_OR_RETURN(const int64_t lhs_components, c.Int("lhs_component_count"));
  KASHI_ASSIGN_OR_RETURN(const int64_t rhs_components, c.Int("rhs_component_count"));
  KASHI_ASSIGN_OR_RETURN(const int64_t operations, c.Int("num_primitive_operations"));
  KASHI_ASSIGN_OR_RETURN(const bool is_imprecise, c.Bool("allow_imprecise_accumulation"));
  for (const AlgorithmRow& row : kAlgorithms) {
    if (row.operand == lhs && row.operand == rhs && row.accumulation == accumulation && lhs_components == 1 &&
        rhs_components == 1 && row.primitive_operations == operations && row.is_imprecise == is_imprecise) {
      return row.algorithm;
    }
  }
  return Unimplemented("HLO has no such dot algorithm: %s by %s into %s, %d operations", lhs, rhs, accumulation,
                       operations);
}

absl::Status ReadDimensions(const OperationConverter& c, absl::string_view name, RepeatedField<int64_t>* list) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, c.Ints(name));
  list->assign(values.begin(), values.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PrecisionConfig> PrecisionOf(const Attribute& precisions) {
  PrecisionConfig config;
  for (const Attribute* precision : precisions.elements) {
    KASHI_ASSIGN_OR_RETURN(const absl::string_view name, ReadString(*precision));
    if (name != "DEFAULT" && name != "HIGH" && name != "HIGHEST") return InvalidArgument("unknown precision %s", name);
    config.add_operand_precision(name == "HIGHEST" ? PrecisionConfig::HIGHEST
                                 : name == "HIGH"  ? PrecisionConfig::HIGH
                                                   : PrecisionConfig::DEFAULT);
  }
  return config;
}

// Contracts the last dimension of lhs with the first of rhs.
absl::Status ConvertDot(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const Attribute* precisions, c.Find("precision_config"));
  KASHI_ASSIGN_OR_RETURN(const PrecisionConfig precision, PrecisionOf(*precisions));
  if (!c.operand(0)->shape().IsArray() || DotRank(c.operand(0)) == 0) return c.Invalid("needs a vector or a matrix");
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(DotRank(c.operand(0)) - 1);
  numbers.add_rhs_contracting_dimensions(0);
  return c.Finish(HloInstruction::CreateDot(shape, c.operand(0), c.operand(1), numbers, precision));
}

absl::Status ConvertDotGeneral(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const Attribute* precisions, c.Find("precision_config"));
  KASHI_ASSIGN_OR_RETURN(PrecisionConfig precision, PrecisionOf(*precisions));
  KASHI_ASSIGN_OR_RETURN(const PrecisionConfig::Algorithm algorithm, AlgorithmOf(c));
  precision.set_algorithm(algorithm);
  DotDimensionNumbers n;
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "lhs_batching_dimensions", n.mutable_lhs_batch_dimensions()));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "rhs_batching_dimensions", n.mutable_rhs_batch_dimensions()));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "lhs_contracting_dimensions", n.mutable_lhs_contracting_dimensions()));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "rhs_contracting_dimensions", n.mutable_rhs_contracting_dimensions()));
  return c.Finish(HloInstruction::CreateDot(shape, c.operand(0), c.operand(1), n, precision));
}

namespace {

bool Has(absl::string_view labels, char label) { return labels.find(label) != absl::string_view::npos; }

bool AreDistinct(std::string labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) == labels.end();
}

// An array, and a letter for each dimension.
struct Labelled {
  HloInstruction* array;
  std::string labels;

  int64_t SizeOf(char label) const { return array->shape().dimensions(static_cast<int>(labels.find(label))); }
};

// "ab,bc->ac": the letters of the operands, then those of the result.
absl::StatusOr<std::vector<Labelled>> ReadEinsum(const OperationConverter& c, absl::string_view config,
                                                 std::string* out) {
  const std::vector<std::string> sides = absl::StrSplit(config, "->");
  const std::vector<std::string> inputs = absl::StrSplit(sides[0], ',');
  const auto error = Unimplemented("einsum_config \"%s\"", config);
  if (sides.size() != 2 || inputs.size() != c.operands().size() || !AreDistinct(sides[1])) return error;
  std::vector<Labelled> operands;
  std::string all;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool fits = AreDistinct(inputs[i]) && !Has(inputs[i], '.') && c.operand(i)->shape().IsArray() &&
                      static_cast<int64_t>(inputs[i].size()) == DotRank(c.operand(i));
    if (!fits) return error;
    operands.push_back({c.operand(i), inputs[i]});
    absl::StrAppend(&all, inputs[i]);
  }
  *out = sides[1];
  if (!std::all_of(out->begin(), out->end(), [&](char label) { return Has(all, label); })) return error;
  return operands;
}

// The sum over the dimensions whose letters are not `needed`.
absl::Status SumOthers(OperationConverter& c, absl::string_view needed, Labelled* operand) {
  std::vector<int64_t> summed, sizes;
  std::string labels;
  for (const char label : operand->labels) {
    if (!Has(needed, label)) {
      summed.push_back(static_cast<int64_t>(operand->labels.find(label)));
      continue;
    }
    sizes.push_back(operand->SizeOf(label));
    labels.push_back(label);
  }
  if (summed.empty()) return absl::OkStatus();
  const PrimitiveType type = operand->array->shape().element_type();
  KASHI_ASSIGN_OR_RETURN(HloComputation* const add, MakeAddition(c, type));
  KASHI_ASSIGN_OR_RETURN(HloInstruction* const zero, c.Add(HloInstruction::CreateConstant(LiteralUtil::Zero(type))));
  KASHI_ASSIGN_OR_RETURN(operand->array, c.Add(HloInstruction::CreateReduce(ShapeUtil::MakeShape(type, sizes),
                                                                            operand->array, zero, summed, add)));
  operand->labels = labels;
  return absl::OkStatus();
}

absl::Status FinishInOrder(OperationConverter& c, const Labelled& value, absl::string_view order) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  std::vector<int64_t> permutation;
  for (const char label : order) permutation.push_back(static_cast<int64_t>(value.labels.find(label)));
  return c.Finish(HloInstruction::CreateTranspose(shape, value.array, permutation));
}

}  // namespace

absl::Status ConvertUnaryEinsum(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view config, c.String("einsum_config"));
  std::string out;
  KASHI_ASSIGN_OR_RETURN(std::vector<Labelled> operands, ReadEinsum(c, config, &out));
  KASHI_RETURN_IF_ERROR(SumOthers(c, out, &operands[0]));
  return FinishInOrder(c, operands[0], out);
}

// Letters of both operands and of the result are batch dimensions, letters of both operands alone are contracted,
// letters of one operand alone are summed. The dot's result has batch dimensions first, then the others of lhs and of
// rhs: a transpose brings them in order.
absl::Status ConvertEinsum(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const absl::string_view config, c.String("einsum_config"));
  std::string out;
  KASHI_ASSIGN_OR_RETURN(std::vector<Labelled> operands, ReadEinsum(c, config, &out));
  Labelled &lhs = operands[0], &rhs = operands[1];
  KASHI_RETURN_IF_ERROR(SumOthers(c, absl::StrCat(out, rhs.labels), &lhs));
  KASHI_RETURN_IF_ERROR(SumOthers(c, absl::StrCat(out, lhs.labels), &rhs));
  DotDimensionNumbers numbers;
  Labelled product;
  std::vector<int64_t> sizes;
  for (const char label : lhs.labels) {
    if (!Has(rhs.labels, label)) continue;
    const bool is_batch = Has(out, label);
    (is_batch ? numbers.mutable_lhs_batch_dimensions() : numbers.mutable_lhs_contracting_dimensions())
        ->push_back(static_cast<int64_t>(lhs.labels.find(label)));
    (is_batch ? numbers.mutable_rhs_batch_dimensions() : numbers.mutable_rhs_contracting_dimensions())
        ->push_back(static_cast<int64_t>(rhs.labels.find(label)));
    if (!is_batch) continue;
    product.labels.push_back(label);
    sizes.push_back(lhs.SizeOf(label));
  }
  for (const auto& [own, other] : {std::pair(&lhs, &rhs), std::pair(&rhs, &lhs)}) {
    for (const char label : own->labels) {
      if (Has(other->labels, label)) continue;
      product.labels.push_back(label);
      sizes.push_back(own->SizeOf(label));
    }
  }
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  const Shape product_shape = ShapeUtil::MakeShape(shape.element_type(), sizes);
  KASHI_ASSIGN_OR_RETURN(
      product.array, c.Add(HloInstruction::CreateDot(product_shape, lhs.array, rhs.array, numbers, PrecisionConfig())));
  return FinishInOrder(c, product, out);
}

absl::Status ConvertConvolution(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(PairList padding, c.Pairs("padding"));
  return ConvertConvolutionWithPadding(c, std::move(padding));
}

namespace {

absl::StatusOr<ConvolutionDimensionNumbers> ConvolutionNumbers(const OperationConverter& c) {
  ConvolutionDimensionNumbers n;
  KASHI_ASSIGN_OR_RETURN(*n.mutable_input_batch_dimension(), c.Int("input_batch_dimension"));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_input_feature_dimension(), c.Int("input_feature_dimension"));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_kernel_input_feature_dimension(), c.Int("kernel_input_feature_dimension"));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_kernel_output_feature_dimension(), c.Int("kernel_output_feature_dimension"));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_output_batch_dimension(), c.Int("output_batch_dimension"));
  KASHI_ASSIGN_OR_RETURN(*n.mutable_output_feature_dimension(), c.Int("output_feature_dimension"));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "input_spatial_dimensions", n.mutable_input_spatial_dimensions()));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "kernel_spatial_dimensions", n.mutable_kernel_spatial_dimensions()));
  KASHI_RETURN_IF_ERROR(ReadDimensions(c, "output_spatial_dimensions", n.mutable_output_spatial_dimensions()));
  return n;
}

absl::StatusOr<Window> ConvolutionWindow(const OperationConverter& c, const ConvolutionDimensionNumbers& numbers,
                                         const std::vector<std::pair<int64_t, int64_t>>& padding) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.Ints("window_strides"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> lhs_dilation, c.Ints("lhs_dilation"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> rhs_dilation, c.Ints("rhs_dilation"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<bool> reversal, c.Bools("window_reversal"));
  const size_t rank = numbers.kernel_spatial_dimensions().size();
  for (const size_t size :
       {padding.size(), strides.size(), lhs_dilation.size(), rhs_dilation.size(), reversal.size()}) {
    if (size != rank) return InvalidArgument("a list of the window has %d entries, not %d", size, rank);
  }
  Window window;
  const Shape& kernel = c.operand(1)->shape();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t from = numbers.kernel_spatial_dimensions()[i];
    if (!kernel.IsArray() || from < 0 || from >= static_cast<int64_t>(kernel.dimensions().size())) {
      return InvalidArgument("the kernel has no dimension %d", from);
    }
    WindowDimension* dimension = window.add_dimensions();
    dimension->set_size(kernel.dimensions(static_cast<int>(from)));
    dimension->set_stride(strides[i]);
    dimension->set_padding_low(padding[i].first);
    dimension->set_padding_high(padding[i].second);
    dimension->set_base_dilation(lhs_dilation[i]);
    dimension->set_window_dilation(rhs_dilation[i]);
    dimension->set_window_reversal(reversal[i]);
  }
  return window;
}

}  // namespace

absl::Status ConvertConvolutionWithPadding(OperationConverter& c, std::vector<std::pair<int64_t, int64_t>> padding) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const ConvolutionDimensionNumbers numbers, ConvolutionNumbers(c));
  if (padding.empty()) padding.resize(numbers.kernel_spatial_dimensions().size());
  KASHI_ASSIGN_OR_RETURN(const Window window, ConvolutionWindow(c, numbers, padding));
  KASHI_ASSIGN_OR_RETURN(const Attribute* precisions, c.Find("precision_config"));
  KASHI_ASSIGN_OR_RETURN(const PrecisionConfig precision, PrecisionOf(*precisions));
  KASHI_ASSIGN_OR_RETURN(const int64_t feature_groups, c.Int("feature_group_count"));
  KASHI_ASSIGN_OR_RETURN(const int64_t batch_groups, c.Int("batch_group_count"));
  return c.Finish(HloInstruction::CreateConvolve(shape, c.operand(0), c.operand(1), feature_groups, batch_groups,
                                                 window, numbers, precision));
}

absl::Status ConvertFft(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view type, c.String("fft_type"));
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> length, c.Ints("fft_length"));
  constexpr std::pair<absl::string_view, FftType> kTypes[] = {
      {"FFT", FFT}, {"IFFT", IFFT}, {"RFFT", RFFT}, {"IRFFT", IRFFT}};
  for (const auto& [name, value] : kTypes) {
    if (name == type) return c.Finish(HloInstruction::CreateFft(shape, c.operand(0), value, length));
  }
  return c.Invalid("unknown fft_type %s", type);
}

absl::Status ConvertCholesky(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const bool is_lower, c.Bool("lower"));
  CholeskyOptions options;
  options.set_lower(is_lower);
  return c.Finish(HloInstruction::CreateCholesky(shape, c.operand(0), options));
}

absl::Status ConvertTriangularSolve(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  TriangularSolveOptions options;
  KASHI_ASSIGN_OR_RETURN(*options.mutable_left_side(), c.Bool("left_side"));
  KASHI_ASSIGN_OR_RETURN(*options.mutable_lower(), c.Bool("lower"));
  KASHI_ASSIGN_OR_RETURN(*options.mutable_unit_diagonal(), c.Bool("unit_diagonal"));
  KASHI_ASSIGN_OR_RETURN(const absl::string_view transpose, c.String("transpose_a"));
  constexpr std::pair<absl::string_view, TriangularSolveOptions::Transpose> kTransposes[] = {
      {"NO_TRANSPOSE", TriangularSolveOptions::NO_TRANSPOSE},
      {"TRANSPOSE", TriangularSolveOptions::TRANSPOSE},
      {"ADJOINT", TriangularSolveOptions::ADJOINT}};
  for (const auto& [name, value] : kTransposes) {
    if (name != transpose) continue;
    options.set_transpose_a(value);
    return c.Finish(HloInstruction::CreateTriangularSolve(shape, c.operand(0), c.operand(1), options));
  }
  return c.Invalid("transpose_a cannot be %s", transpose);
}

absl::Status ConvertBatchNormTraining(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const double epsilon, c.Double("epsilon"));
  KASHI_ASSIGN_OR_RETURN(const int64_t feature, c.Int("feature_index"));
  return c.Finish(HloInstruction::CreateBatchNormTraining(shape, c.operand(0), c.operand(1), c.operand(2),
                                                          static_cast<float>(epsilon), feature));
}

absl::Status ConvertBatchNormInference(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultShape());
  KASHI_ASSIGN_OR_RETURN(const double epsilon, c.Double("epsilon"));
  KASHI_ASSIGN_OR_RETURN(const int64_t feature, c.Int("feature_index"));
  return c.Finish(HloInstruction::CreateBatchNormInference(shape, c.operand(0), c.operand(1), c.operand(2),
                                                           c.operand(3), c.operand(4), static_cast<float>(epsilon),
                                                           feature));
}

absl::Status ConvertBatchNormGrad(OperationConverter& c) {
  KASHI_ASSIGN_OR_RETURN(const Shape shape, c.ResultsShape());
  KASHI_ASSIGN_OR_RETURN(const double epsilon, c.Double("epsilon"));
  KASHI_ASSIGN_OR_RETURN(const int64_t feature, c.Int("feature_index"));
  return c.Finish(HloInstruction::CreateBatchNormGrad(shape, c.operand(0), c.operand(1), c.operand(2), c.operand(3),
                                                      c.operand(4), static_cast<float>(epsilon), feature));
}

}  // namespace kashi::stablehlo
