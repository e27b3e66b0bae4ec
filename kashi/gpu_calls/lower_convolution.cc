// Convolutions by cuDNN. Each becomes one convolution of HLO.
//
// y[b, p, o] = sum over k, i of x[b, s p + d k - l, i] * w[k, i, o], with stride s, dilation d and padding l. So
//
//   dx: a convolution of dy, dilated by s, with w, whose elements are in reverse order and whose features have changed
//       places; padded by (size of the window) - 1 - l in front, and so much behind that dx has its size
//   dw: a convolution of x with dy: batch and features of x change places, features are summed over batches; s and d
//       change places
//
// With groups of features, w is split along its output features for dx; for dw the groups are those of the batch.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/activation.h"
#include "kashi/gpu_calls/convolution_graph.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {
namespace {

// Sizes, paddings and dilations beyond this are those of no machine; sums of products of them would not fit.
constexpr int64_t kMostSize = int64_t{1} << 30;

// A convolution as XlaBuilder takes it.
struct Convolution {
  XlaOp lhs, rhs;
  ConvolutionDimensionNumbers dimensions;
  std::vector<int64_t> strides, base_dilations, window_dilations;
  std::vector<std::pair<int64_t, int64_t>> padding;
  std::vector<bool> reversal;
  int64_t feature_groups = 1, batch_groups = 1;

  XlaOp Make(PrimitiveType type) const {
    return ConvGeneralDilated(lhs, rhs, strides, padding, base_dilations, window_dilations, dimensions, feature_groups,
                              batch_groups, /*precision_config=*/nullptr, type, reversal);
  }
};

// Whether the labels name dimensions of the three arrays, and the window has one dimension for each spatial one.
absl::Status CheckForward(const CallLowering& lowering, const Shape& x, const Shape& w, const Shape& y) {
  const ConvolutionDimensionNumbers& labels = lowering.call().convolution_dimension_numbers();
  const Window& window = lowering.call().window();
  KASHI_RETURN_IF_ERROR(XlaBuilder::Validate(labels));
  const int rank = window.dimensions_size() + 2;
  if (labels.input_spatial_dimensions_size() + 2 != rank || x.dimensions_size() != rank ||
      w.dimensions_size() != rank || y.dimensions_size() != rank) {
    return lowering.Unknown("window, dim_labels and arrays of different ranks");
  }
  for (const WindowDimension& d : window.dimensions()) {
    if (d.base_dilation() != 1) return lowering.Unknown("an input that is dilated: cuDNN has no such convolution");
    for (const int64_t number : {d.size(), d.stride(), d.window_dilation()}) {
      if (number < 1 || number > kMostSize) return lowering.Wrong("the window has numbers that no convolution has");
    }
    for (const int64_t padding : {d.padding_low(), d.padding_high()}) {
      if (padding < -kMostSize || padding > kMostSize)
        return lowering.Wrong("the window has a padding that no convolution has");
    }
  }
  for (const Shape* array : {&x, &w, &y}) {
    for (const int64_t size : array->dimensions()) {
      if (size > kMostSize) return lowering.Wrong("an array of a convolution has too large a dimension");
    }
  }
  return absl::OkStatus();
}

// Runs of the window over the array with dilations.
int64_t Dilated(int64_t size, int64_t dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; }

Convolution Forward(const CallLowering& lowering) {
  const HloInstruction& call = lowering.call();
  Convolution forward;
  forward.lhs = lowering.operand(0);
  forward.rhs = lowering.operand(1);
  forward.dimensions = call.convolution_dimension_numbers();
  forward.feature_groups = call.feature_group_count();
  forward.batch_groups = call.batch_group_count();
  for (const WindowDimension& d : call.window().dimensions()) {
    forward.strides.push_back(d.stride());
    forward.base_dilations.push_back(d.base_dilation());
    forward.window_dilations.push_back(d.window_dilation());
    forward.padding.emplace_back(d.padding_low(), d.padding_high());
    forward.reversal.push_back(d.window_reversal());
  }
  return forward;
}

// w[…, i / groups, o] -> w[…, i, o / groups]: output features are split, their groups are moved to the input features.
XlaOp MoveGroups(XlaOp w, const Shape& shape, const ConvolutionDimensionNumbers& labels, int64_t groups) {
  const int64_t i = labels.kernel_input_feature_dimension(), o = labels.kernel_output_feature_dimension();
  std::vector<int64_t> split, order, merged(shape.dimensions().begin(), shape.dimensions().end());
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (d == o) split.push_back(groups);
    split.push_back(d == o ? shape.dimensions(d) / groups : shape.dimensions(d));
  }
  const auto place = [o](int64_t d) { return d < o ? d : d + 1; };  // after the split; the groups are at o
  for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
    if (d == i) order.push_back(o);
    order.push_back(place(d));
  }
  merged[i] *= groups;
  merged[o] /= groups;
  return Reshape(Transpose(Reshape(w, split), order), merged);
}

absl::StatusOr<Convolution> BackwardInput(const CallLowering& lowering) {
  const Shape &dy = lowering.operand_shape(0), &w = lowering.operand_shape(1), &dx = lowering.result(0);
  const Convolution forward = Forward(lowering);
  const ConvolutionDimensionNumbers& labels = forward.dimensions;
  const int64_t groups = forward.feature_groups;
  if (groups < 1 || w.dimensions(static_cast<int>(labels.kernel_output_feature_dimension())) % groups != 0)
    return lowering.Wrong("the output features do not divide into the groups");
  Convolution backward = forward;
  if (groups > 1) backward.rhs = MoveGroups(forward.rhs, w, labels, groups);
  ConvolutionDimensionNumbers& mapped = backward.dimensions;
  mapped.set_input_batch_dimension(labels.output_batch_dimension());
  mapped.set_input_feature_dimension(labels.output_feature_dimension());
  mapped.set_output_batch_dimension(labels.input_batch_dimension());
  mapped.set_output_feature_dimension(labels.input_feature_dimension());
  mapped.set_kernel_input_feature_dimension(labels.kernel_output_feature_dimension());
  mapped.set_kernel_output_feature_dimension(labels.kernel_input_feature_dimension());
  for (int i = 0; i < lowering.call().window().dimensions_size(); ++i) {
    const WindowDimension& d = lowering.call().window().dimensions(i);
    mapped.set_input_spatial_dimensions(i, labels.output_spatial_dimensions(i));
    mapped.set_output_spatial_dimensions(i, labels.input_spatial_dimensions(i));
    const int64_t window = Dilated(d.size(), d.window_dilation());
    const int64_t spread = Dilated(dy.dimensions(static_cast<int>(labels.output_spatial_dimensions(i))), d.stride());
    const int64_t low = window - 1 - d.padding_low();
    const int64_t size = dx.dimensions(static_cast<int>(labels.input_spatial_dimensions(i)));
    backward.padding[i] = {low, size + window - 1 - spread - low};
    backward.strides[i] = 1;
    backward.base_dilations[i] = d.stride();
    backward.reversal[i] = !d.window_reversal();
  }
  return backward;
}

Convolution BackwardFilter(const CallLowering& lowering) {
  const Shape &x = lowering.operand_shape(0), &dy = lowering.operand_shape(1), &dw = lowering.result(0);
  const Convolution forward = Forward(lowering);
  const ConvolutionDimensionNumbers& labels = forward.dimensions;
  Convolution backward = forward;
  backward.feature_groups = 1;
  backward.batch_groups = forward.feature_groups;
  ConvolutionDimensionNumbers& mapped = backward.dimensions;
  mapped.set_input_batch_dimension(labels.input_feature_dimension());
  mapped.set_input_feature_dimension(labels.input_batch_dimension());
  mapped.set_kernel_input_feature_dimension(labels.output_batch_dimension());
  mapped.set_kernel_output_feature_dimension(labels.output_feature_dimension());
  mapped.set_output_batch_dimension(labels.kernel_input_feature_dimension());
  mapped.set_output_feature_dimension(labels.kernel_output_feature_dimension());
  for (int i = 0; i < lowering.call().window().dimensions_size(); ++i) {
    const WindowDimension& d = lowering.call().window().dimensions(i);
    mapped.set_kernel_spatial_dimensions(i, labels.output_spatial_dimensions(i));
    mapped.set_output_spatial_dimensions(i, labels.kernel_spatial_dimensions(i));
    const int64_t window = Dilated(dy.dimensions(static_cast<int>(labels.output_spatial_dimensions(i))), d.stride());
    const int64_t size = x.dimensions(static_cast<int>(labels.input_spatial_dimensions(i)));
    const int64_t filter =
        Dilated(dw.dimensions(static_cast<int>(labels.kernel_spatial_dimensions(i))), d.window_dilation());
    backward.padding[i] = {d.padding_low(), filter + window - 1 - size - d.padding_low()};
    backward.strides[i] = d.window_dilation();
    backward.window_dilations[i] = d.stride();
    backward.reversal[i] = false;
  }
  return backward;
}

struct ActivationName {
  absl::string_view name;
  absl::string_view number;  // in configs before 2023
  Activation activation;
};

// XLA's enum has three more: kReluX and kBandPass, whose limit is not in the config.
constexpr ActivationName kActivations[] = {
    {"kNone", "0", Activation::kNone},           {"kSigmoid", "1", Activation::kSigmoid},
    {"kRelu", "2", Activation::kRelu},           {"kRelu6", "3", Activation::kRelu6},
    {"kTanh", "5", Activation::kTanh},           {"kElu", "7", Activation::kElu},
    {"kLeakyRelu", "8", Activation::kLeakyRelu}, {"kGeluExact", "9", Activation::kGeluExact},
};

absl::StatusOr<Activation> ReadActivation(const CallConfig& config) {
  KASHI_ASSIGN_OR_RETURN(const std::string mode, config.Text("activation_mode", "kNone"));
  const auto* const found =
      absl::c_find_if(kActivations, [&](const ActivationName& row) { return row.name == mode || row.number == mode; });
  if (found == std::end(kActivations))
    return config.Unknown("activation_mode", absl::StrCat("\"", mode, "\" is not known"));
  return found->activation;
}

absl::Status CheckOrder(const CallConfig& config) {
  KASHI_ASSIGN_OR_RETURN(const bool is_reordered, config.Bool("reordered_int8_nchw_vect", false));
  if (is_reordered) return config.Unknown("reordered_int8_nchw_vect", "is true: the filter is in an order of cuDNN");
  return absl::OkStatus();
}

// The type in which scales, bias and activation are computed; the convolution itself of integers is one of integers.
PrimitiveType TypeOf(const CallLowering& lowering) {
  return ComputeType(lowering.operand_shape(0).element_type(), lowering.result(0).element_type());
}

XlaOp MakeIn(CallLowering* lowering, Convolution convolution, PrimitiveType type) {
  const PrimitiveType operand = lowering->operand_shape(0).element_type();
  if (operand != lowering->operand_shape(1).element_type()) {
    convolution.lhs = ConvertElementType(convolution.lhs, type);
    convolution.rhs = ConvertElementType(convolution.rhs, type);
    return convolution.Make(type);
  }
  if (!primitive_util::IsIntegralType(operand) || primitive_util::IsIntegralType(type)) return convolution.Make(type);
  return ConvertElementType(convolution.Make(S32), type);
}

// Of the kinds without a bias.
Results Finish(CallLowering* lowering, const Convolution& convolution, XlaOp (*change)(CallLowering*, XlaOp)) {
  const PrimitiveType type = TypeOf(*lowering);
  XlaOp y = MakeIn(lowering, convolution, type);
  if (lowering->only_products()) return std::vector<XlaOp>{y};
  KASHI_RETURN_IF_ERROR(CheckOrder(lowering->config()));
  KASHI_ASSIGN_OR_RETURN(const double scale, lowering->config().Number("conv_result_scale", 1));
  if (primitive_util::IsIntegralType(type) && scale != 1)
    return lowering->config().Wrong("conv_result_scale", "is not 1, but the result is one of integers");
  y = lowering->Scale(y, type, scale);
  if (change != nullptr) y = change(lowering, y);
  return std::vector<XlaOp>{lowering->ToResult(y, 0)};
}

// With a reversed window, the filter is reversed.
XlaOp ReverseFilter(CallLowering* lowering, XlaOp dw) {
  const HloInstruction& call = lowering->call();
  std::vector<int64_t> reversed;
  for (int i = 0; i < call.window().dimensions_size(); ++i) {
    if (call.window().dimensions(i).window_reversal())
      reversed.push_back(call.convolution_dimension_numbers().kernel_spatial_dimensions(i));
  }
  return reversed.empty() ? dw : Rev(dw, reversed);
}

}  // namespace

Results LowerConvolutionForward(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(2, 2));
  KASHI_RETURN_IF_ERROR(
      CheckForward(*lowering, lowering->operand_shape(0), lowering->operand_shape(1), lowering->result(0)));
  return Finish(lowering, Forward(*lowering), nullptr);
}

Results LowerConvolutionBackwardInput(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(2, 2));
  KASHI_RETURN_IF_ERROR(
      CheckForward(*lowering, lowering->result(0), lowering->operand_shape(1), lowering->operand_shape(0)));
  KASHI_ASSIGN_OR_RETURN(const Convolution backward, BackwardInput(*lowering));
  return Finish(lowering, backward, nullptr);
}

Results LowerConvolutionBackwardFilter(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(2, 2));
  KASHI_RETURN_IF_ERROR(
      CheckForward(*lowering, lowering->operand_shape(0), lowering->result(0), lowering->operand_shape(1)));
  return Finish(lowering, BackwardFilter(*lowering), &ReverseFilter);
}

Results LowerConvolutionBiasActivation(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(3, 4));
  KASHI_RETURN_IF_ERROR(
      CheckForward(*lowering, lowering->operand_shape(0), lowering->operand_shape(1), lowering->result(0)));
  const PrimitiveType type = TypeOf(*lowering);
  const CallConfig& config = lowering->config();
  XlaOp y = MakeIn(lowering, Forward(*lowering), type);
  if (lowering->only_products()) return std::vector<XlaOp>{y};
  KASHI_RETURN_IF_ERROR(CheckOrder(config));
  if (!primitive_util::IsFloatingPointType(type)) return lowering->Unknown("a bias for numbers that are not real");
  KASHI_ASSIGN_OR_RETURN(const double scale, config.Number("conv_result_scale", 1));
  KASHI_ASSIGN_OR_RETURN(const double side_scale, config.Number("side_input_scale", 0));
  KASHI_ASSIGN_OR_RETURN(const double slope, config.Number("leakyrelu_alpha", 0));
  KASHI_ASSIGN_OR_RETURN(const Activation activation, ReadActivation(config));
  y = lowering->Scale(y, type, scale);
  if (side_scale != 0) {
    KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(4, 4));
    y = Add(y, lowering->Scale(lowering->OperandAs(3, type), type, side_scale));
  }
  const std::vector<int64_t> feature = {lowering->call().convolution_dimension_numbers().output_feature_dimension()};
  y = Add(y, lowering->OperandAs(2, type), feature);
  return std::vector<XlaOp>{lowering->ToResult(Activate(lowering, activation, type, slope, y), 0)};
}

Results LowerConvolutionGraph(CallLowering* lowering) {
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(2, 2 + kMostGraphOperands));
  KASHI_RETURN_IF_ERROR(
      CheckForward(*lowering, lowering->operand_shape(0), lowering->operand_shape(1), lowering->result(0)));
  const XlaOp y = MakeIn(lowering, Forward(*lowering), TypeOf(*lowering));
  if (lowering->only_products()) return std::vector<XlaOp>{y};
  return LowerGraphAfter(lowering, y);
}

}  // namespace kashi::gpu_calls
