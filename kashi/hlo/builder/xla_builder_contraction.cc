// Dots and convolutions (docs/spec/hlo-ops.md 10.3).
#include <set>

#include "absl/strings/str_join.h"
#include "kashi/array/broadcast.h"
#include "kashi/hlo/builder/xla_lowering.h"
#include "kashi/hlo/inference/shape_inference.h"

namespace kashi {

using hlo::InferredOf;
using hlo::Lower;
using hlo::LowerInferred;
using hlo::NewInstruction;
using hlo::Node;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

using EdgePadding = absl::Span<const std::pair<int64_t, int64_t>>;

PrecisionConfig OrDefault(const PrecisionConfig* config) { return config ? *config : PrecisionConfig(); }

// ---- Convolutions.

// The arguments of a convolution besides its operands.
struct Convolution {
  absl::Span<const int64_t> window_strides;
  EdgePadding padding;
  absl::Span<const int64_t> lhs_dilation;
  absl::Span<const int64_t> rhs_dilation;
  const ConvolutionDimensionNumbers& dimension_numbers;
  int64_t feature_group_count;
  int64_t batch_group_count;
  const PrecisionConfig* precision_config;
  std::optional<PrimitiveType> preferred_element_type;
  std::optional<std::vector<bool>> window_reversal;
};

absl::Status VerifyConvolution(const Shape& lhs, const Shape& rhs, const ConvolutionDimensionNumbers& numbers) {
  KASHI_RETURN_IF_ERROR(ExpectArray(lhs, "lhs of convolution"));
  KASHI_RETURN_IF_ERROR(ExpectArray(rhs, "rhs of convolution"));
  const int rank = lhs.dimensions_size();
  if (rank != rhs.dimensions_size()) {
    return InvalidArgument("Convolution arguments must have same number of dimensions. Got: %s and %s",
                           ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
  }
  if (rank < 2) {
    return InvalidArgument("Convolution expects argument arrays with >= 3 dimensions. Got: %s and %s",
                           ShapeUtil::HumanString(lhs), ShapeUtil::HumanString(rhs));
  }
  const auto check = [&](const char* field, absl::Span<const int64_t> dimensions) -> absl::Status {
    if (static_cast<int>(dimensions.size()) != rank - 2) {
      return InvalidArgument("Expected %d elements for %s, but got %d.", rank - 2, field, dimensions.size());
    }
    for (size_t i = 0; i < dimensions.size(); ++i) {
      if (dimensions[i] >= 0 && dimensions[i] < rank) continue;
      return InvalidArgument("Convolution %s[%d] is out of bounds: %d", field, i, dimensions[i]);
    }
    return absl::OkStatus();
  };
  KASHI_RETURN_IF_ERROR(check("input_spatial_dimensions", numbers.input_spatial_dimensions()));
  KASHI_RETURN_IF_ERROR(check("kernel_spatial_dimensions", numbers.kernel_spatial_dimensions()));
  return check("output_spatial_dimensions", numbers.output_spatial_dimensions());
}

std::vector<int64_t> SizesOf(const Shape& shape, absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sizes;
  for (const int64_t dimension : dimensions) sizes.push_back(shape.dimensions(static_cast<int>(dimension)));
  return sizes;
}

// A convolution with its shape.
absl::StatusOr<NewInstruction> MakeConvolution(XlaLowering& to, Node lhs, Node rhs, const Convolution& what) {
  const ConvolutionDimensionNumbers& numbers = what.dimension_numbers;
  KASHI_RETURN_IF_ERROR(VerifyConvolution(lhs->shape(), rhs->shape(), numbers));
  KASHI_ASSIGN_OR_RETURN(const Window window,
                         ShapeInference::InferWindowFromDimensions(
                             SizesOf(rhs->shape(), numbers.kernel_spatial_dimensions()), what.window_strides,
                             what.padding, what.lhs_dilation, what.rhs_dilation, what.window_reversal));
  NewInstruction convolution =
      HloInstruction::CreateConvolve(InferredOf(what.preferred_element_type), lhs, rhs, what.feature_group_count,
                                     what.batch_group_count, window, numbers, OrDefault(what.precision_config));
  KASHI_RETURN_IF_ERROR(to.InferShapeOf(convolution.get()));
  return convolution;
}

// The custom call with this target, the operands, and the attributes of the convolution of the last two operands.
NodeOr AddDynamicConvolution(XlaLowering& to, Nodes operands, const char* target, PaddingType padding_type,
                             const Convolution& what) {
  const Nodes last = operands.last(2);
  KASHI_ASSIGN_OR_RETURN(NewInstruction convolution, MakeConvolution(to, last[0], last[1], what));
  HloFieldList fields = convolution->fields();
  fields.Set<HloField::custom_call_target>(target);
  fields.Set<HloField::padding_type>(padding_type);
  return to.Add(convolution->shape(), HloOpcode::kCustomCall, operands, std::move(fields));
}

}  // namespace

// ---- Dots ----------------------------------------------------------------------------------------------------------

XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision_config,
          std::optional<PrimitiveType> preferred_element_type) {
  const absl::StatusOr<const Shape*> shape = lhs.builder()->GetShapePtr(lhs);
  if (!shape.ok()) return lhs.builder()->ReportError(shape.status());
  if (absl::Status status = ExpectArray(**shape, "lhs of dot"); !status.ok()) {
    return lhs.builder()->ReportError(status);
  }
  DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions((*shape)->dimensions_size() == 1 ? 0 : 1);
  numbers.add_rhs_contracting_dimensions(0);
  return DotGeneral(lhs, rhs, numbers, precision_config, preferred_element_type);
}

XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type) {
  return LowerInferred({lhs, rhs}, [&](Nodes x) {
    return HloInstruction::CreateDot(InferredOf(preferred_element_type), x[0], x[1], dimension_numbers,
                                     OrDefault(precision_config));
  });
}

XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale, const DotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type) {
  return LowerInferred({lhs, rhs, lhs_scale, rhs_scale}, [&](Nodes x) {
    return HloInstruction::CreateScaledDot(InferredOf(preferred_element_type), x[0], x[1], x[2], x[3],
                                           dimension_numbers, OrDefault(precision_config));
  });
}

XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config, std::optional<PrimitiveType> preferred_element_type) {
  return LowerInferred({lhs, rhs, group_sizes}, [&](Nodes x) {
    return HloInstruction::CreateRaggedDot(InferredOf(preferred_element_type), x[0], x[1], x[2], dimension_numbers,
                                           OrDefault(precision_config));
  });
}

// ---- Convolutions --------------------------------------------------------------------------------------------------

XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding, int64_t feature_group_count,
           int64_t batch_group_count, const PrecisionConfig* precision_config,
           std::optional<PrimitiveType> preferred_element_type) {
  return ConvWithGeneralDimensions(
      lhs, rhs, window_strides, padding,
      XlaBuilder::CreateDefaultConvDimensionNumbers(static_cast<int>(window_strides.size())), feature_group_count,
      batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, EdgePadding padding,
                             int64_t feature_group_count, int64_t batch_group_count,
                             const PrecisionConfig* precision_config,
                             std::optional<PrimitiveType> preferred_element_type) {
  return ConvGeneral(lhs, rhs, window_strides, padding,
                     XlaBuilder::CreateDefaultConvDimensionNumbers(static_cast<int>(window_strides.size())),
                     feature_group_count, batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
                                const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                                int64_t batch_group_count, const PrecisionConfig* precision_config,
                                std::optional<PrimitiveType> preferred_element_type) {
  return Lower({lhs, rhs}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_RETURN_IF_ERROR(VerifyConvolution(x[0]->shape(), x[1]->shape(), dimension_numbers));
    const auto base = SizesOf(x[0]->shape(), dimension_numbers.input_spatial_dimensions());
    const auto window = SizesOf(x[1]->shape(), dimension_numbers.kernel_spatial_dimensions());
    KASHI_RETURN_IF_ERROR(ValidatePaddingValues(base, window, window_strides));
    const auto edges = MakePadding(base, window, window_strides, padding);
    KASHI_ASSIGN_OR_RETURN(NewInstruction convolution, MakeConvolution(to, x[0], x[1],
                                                                       {window_strides,
                                                                        edges,
                                                                        {},
                                                                        {},
                                                                        dimension_numbers,
                                                                        feature_group_count,
                                                                        batch_group_count,
                                                                        precision_config,
                                                                        preferred_element_type,
                                                                        std::nullopt}));
    return to.Add(std::move(convolution));
  });
}

XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, EdgePadding padding,
                  const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                  int64_t batch_group_count, const PrecisionConfig* precision_config,
                  std::optional<PrimitiveType> preferred_element_type) {
  return ConvGeneralDilated(lhs, rhs, window_strides, padding, {}, {}, dimension_numbers, feature_group_count,
                            batch_group_count, precision_config, preferred_element_type);
}

XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, EdgePadding padding,
                         absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                         const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                         int64_t batch_group_count, const PrecisionConfig* precision_config,
                         std::optional<PrimitiveType> preferred_element_type,
                         std::optional<std::vector<bool>> window_reversal) {
  return Lower({lhs, rhs}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    KASHI_ASSIGN_OR_RETURN(
        NewInstruction convolution,
        MakeConvolution(to, x[0], x[1],
                        {window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count,
                         batch_group_count, precision_config, preferred_element_type, window_reversal}));
    return to.Add(std::move(convolution));
  });
}

#define KASHI_DYNAMIC_CONVOLUTION_PARAMETERS                                                             \
  absl::Span<const int64_t> window_strides, EdgePadding padding, absl::Span<const int64_t> lhs_dilation, \
      absl::Span<const int64_t> rhs_dilation, const ConvolutionDimensionNumbers &dimension_numbers,      \
      int64_t feature_group_count, int64_t batch_group_count, const PrecisionConfig *precision_config,   \
      PaddingType padding_type, std::optional<PrimitiveType> preferred_element_type
#define KASHI_DYNAMIC_CONVOLUTION                                                                                   \
  Convolution {                                                                                                     \
    window_strides, padding, lhs_dilation, rhs_dilation, dimension_numbers, feature_group_count, batch_group_count, \
        precision_config, preferred_element_type, std::nullopt                                                      \
  }

XlaOp DynamicConvForward(XlaOp lhs, XlaOp rhs, KASHI_DYNAMIC_CONVOLUTION_PARAMETERS) {
  return Lower({lhs, rhs}, [&](XlaLowering& to, Nodes x) {
    return AddDynamicConvolution(to, x, "DynamicConvolutionForward", padding_type, KASHI_DYNAMIC_CONVOLUTION);
  });
}

XlaOp DynamicConvKernelGrad(XlaOp activations, XlaOp gradients, KASHI_DYNAMIC_CONVOLUTION_PARAMETERS) {
  return Lower({activations, gradients}, [&](XlaLowering& to, Nodes x) {
    return AddDynamicConvolution(to, x, "DynamicConvolutionKernelGrad", padding_type, KASHI_DYNAMIC_CONVOLUTION);
  });
}

XlaOp DynamicConvInputGrad(XlaOp input_sizes, XlaOp lhs, XlaOp rhs, KASHI_DYNAMIC_CONVOLUTION_PARAMETERS) {
  return Lower({input_sizes, lhs, rhs}, [&](XlaLowering& to, Nodes x) {
    return AddDynamicConvolution(to, x, "DynamicConvolutionInputGrad", padding_type, KASHI_DYNAMIC_CONVOLUTION);
  });
}

#undef KASHI_DYNAMIC_CONVOLUTION_PARAMETERS
#undef KASHI_DYNAMIC_CONVOLUTION

// ---- Dimension numbers ---------------------------------------------------------------------------------------------

ConvolutionDimensionNumbers XlaBuilder::CreateDefaultConvDimensionNumbers(int num_spatial_dims) {
  ConvolutionDimensionNumbers numbers;
  numbers.set_input_batch_dimension(kConvBatchDimension);
  numbers.set_input_feature_dimension(kConvFeatureDimension);
  numbers.set_output_batch_dimension(kConvBatchDimension);
  numbers.set_output_feature_dimension(kConvFeatureDimension);
  numbers.set_kernel_output_feature_dimension(kConvKernelOutputDimension);
  numbers.set_kernel_input_feature_dimension(kConvKernelInputDimension);
  for (int64_t i = 0; i < num_spatial_dims; ++i) {
    numbers.add_input_spatial_dimensions(i + kConvFirstSpatialDimension);
    numbers.add_kernel_spatial_dimensions(i + kConvKernelFirstSpatialDimension);
    numbers.add_output_spatial_dimensions(i + kConvFirstSpatialDimension);
  }
  return numbers;
}

absl::Status XlaBuilder::Validate(const ConvolutionDimensionNumbers& dimension_numbers) {
  const auto check = [](const char* part, int64_t first, int64_t second,
                        absl::Span<const int64_t> spatial) -> absl::Status {
    std::set<int64_t> seen = {first, second};
    seen.insert(spatial.begin(), spatial.end());
    if (spatial.empty()) return InvalidArgument("%s spatial dimensions are missing", part);
    if (seen.size() == spatial.size() + 2) return absl::OkStatus();
    return InvalidArgument("dimension numbers for the %s are not unique: (%d, %d, %s)", part, first, second,
                           absl::StrJoin(spatial, ", "));
  };
  const ConvolutionDimensionNumbers& n = dimension_numbers;
  KASHI_RETURN_IF_ERROR(
      check("input", n.input_batch_dimension(), n.input_feature_dimension(), n.input_spatial_dimensions()));
  KASHI_RETURN_IF_ERROR(check("kernel", n.kernel_output_feature_dimension(), n.kernel_input_feature_dimension(),
                              n.kernel_spatial_dimensions()));
  return check("output", n.output_batch_dimension(), n.output_feature_dimension(), n.output_spatial_dimensions());
}

}  // namespace kashi
