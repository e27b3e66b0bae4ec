// XlaBuilder: makes computations from C++, one call for each operation.
//
//   XlaBuilder b("affine");
//   XlaOp x = Parameter(&b, 0, ShapeUtil::MakeShape(F32, {2, 3}), "x");
//   XlaOp y = Parameter(&b, 1, ShapeUtil::MakeShape(F32, {3}), "y");
//   Add(x, y, /*broadcast_dimensions=*/{1});
//   absl::StatusOr<XlaComputation> computation = b.Build();   // of the last operation
//
// Errors are deferred: an operation that fails returns an invalid XlaOp, which other operations accept; the builder
// keeps the first error, and Build returns it. Shapes are inferred (shape_inference.h). Most operations become one
// instruction (docs/spec/hlo-ops.md 10). Instructions of the result are named `opcode.number`, parameters
// `name.number`.
//
// Interface and meaning are XLA's (docs/spec/xla-api.md 28). One thread at a time may use a builder and its
// sub-builders.
#ifndef KASHI_HLO_BUILDER_XLA_BUILDER_H_
#define KASHI_HLO_BUILDER_XLA_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/builder/padding.h"
#include "kashi/hlo/builder/xla_builder_core.h"
#include "kashi/hlo/builder/xla_builder_scopes.h"
#include "kashi/hlo/builder/xla_op.h"
#include "kashi/hlo/ir/xla_computation.h"
#include "kashi/literal/array.h"
#include "kashi/literal/array2d.h"
#include "kashi/literal/array3d.h"
#include "kashi/literal/array4d.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_util.h"

namespace kashi {

// ---- Inputs. -------------------------------------------------------------------------------------------------------

XlaOp Parameter(XlaBuilder* builder, int64_t parameter_number, const Shape& shape, const std::string& name);
// Also says, for each leaf of the shape, whether all replicas get the same value.
XlaOp Parameter(XlaBuilder* builder, int64_t parameter_number, const Shape& shape, const std::string& name,
                const std::vector<bool>& replicated_at_leaf_buffers);
// An array with equal elements becomes the broadcast of a scalar.
XlaOp ConstantLiteral(XlaBuilder* builder, const LiteralSlice& literal);
// 0, 1, 2, … along one dimension.
XlaOp Iota(XlaBuilder* builder, const Shape& shape, int64_t iota_dimension);
XlaOp Iota(XlaBuilder* builder, PrimitiveType type, int64_t size);

template <typename NativeT>
XlaOp ConstantR0(XlaBuilder* builder, NativeT value) {
  return ConstantLiteral(builder, LiteralUtil::CreateR0<NativeT>(value));
}
template <typename NativeT>
XlaOp ConstantR1(XlaBuilder* builder, absl::Span<const NativeT> values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1<NativeT>(values));
}
template <typename BitmapT, std::enable_if_t<std::is_same_v<BitmapT, tsl::core::Bitmap>, int> = 0>
XlaOp ConstantR1(XlaBuilder* builder, const BitmapT& values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR1(values));
}
template <typename NativeT>
XlaOp ConstantR1(XlaBuilder* builder, int64_t length, NativeT value) {
  return ConstantLiteral(builder, LiteralUtil::CreateFull<NativeT>({length}, value));
}
template <typename NativeT>
XlaOp ConstantR2(XlaBuilder* builder, std::initializer_list<std::initializer_list<NativeT>> values) {
  return ConstantLiteral(builder, LiteralUtil::CreateR2<NativeT>(values));
}
template <typename NativeT>
XlaOp ConstantFromArray(XlaBuilder* builder, const Array<NativeT>& values) {
  return ConstantLiteral(builder, LiteralUtil::CreateFromArray(values));
}
template <typename NativeT>
XlaOp ConstantFromArrayWithLayout(XlaBuilder* builder, const Array<NativeT>& values, const Layout& layout) {
  return ConstantLiteral(builder, LiteralUtil::CreateFromArrayWithLayout(values, layout));
}
template <typename NativeT>
XlaOp ConstantR2FromArray2D(XlaBuilder* builder, const Array2D<NativeT>& values) {
  return ConstantFromArray<NativeT>(builder, values);
}
template <typename NativeT>
XlaOp ConstantR2FromArray2DWithLayout(XlaBuilder* builder, const Array2D<NativeT>& values, const Layout& layout) {
  return ConstantFromArrayWithLayout<NativeT>(builder, values, layout);
}
template <typename NativeT>
XlaOp ConstantR3FromArray3D(XlaBuilder* builder, const Array3D<NativeT>& values) {
  return ConstantFromArray<NativeT>(builder, values);
}
template <typename NativeT>
XlaOp ConstantR3FromArray3DWithLayout(XlaBuilder* builder, const Array3D<NativeT>& values, const Layout& layout) {
  return ConstantFromArrayWithLayout<NativeT>(builder, values, layout);
}
template <typename NativeT>
XlaOp ConstantR4FromArray4D(XlaBuilder* builder, const Array4D<NativeT>& values) {
  return ConstantFromArray<NativeT>(builder, values);
}
template <typename NativeT>
XlaOp ConstantR4FromArray4DWithLayout(XlaBuilder* builder, const Array4D<NativeT>& values, const Layout& layout) {
  return ConstantFromArrayWithLayout<NativeT>(builder, values, layout);
}

// ---- Element-wise: xla_builder_ops.def. -----------------------------------------------------------------------------
// Operands of binary operations need not have the same sizes (docs/spec/array-model.md 7): a scalar matches every
// shape, a size of 1 matches every size, and an array of lower rank matches an array of higher rank if
// broadcast_dimensions maps its dimensions to those of the other array.

#define KASHI_UNARY(function, opcode) XlaOp function(XlaOp operand);
#define KASHI_UNARY_ACCURACY(function, opcode) \
  XlaOp function(XlaOp operand, const std::optional<ResultAccuracy>& result_accuracy = std::nullopt);
#define KASHI_BINARY(function, opcode) \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
// …TotalOrder: -NaN < -inf < … < -0 < 0 < … < inf < NaN.
#define KASHI_COMPARISON(function, direction)                                                \
  XlaOp function(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {}); \
  XlaOp function##TotalOrder(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions = {});
#include "kashi/hlo/builder/xla_builder_ops.def"

XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction,
              Comparison::Type compare_type);
XlaOp Compare(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> broadcast_dimensions, ComparisonDirection direction);
XlaOp Compare(XlaOp lhs, XlaOp rhs, ComparisonDirection direction);
template <typename... Rest>
XlaOp And(XlaOp first, XlaOp second, XlaOp third, Rest... rest) {
  return And(first, And(second, third, rest...));
}
template <typename... Rest>
XlaOp Or(XlaOp first, XlaOp second, XlaOp third, Rest... rest) {
  return Or(first, Or(second, third, rest...));
}
XlaOp Conj(XlaOp operand);
// Operands that are not scalars must have the same sizes; scalars are broadcast. on_true and on_false of Select may
// also be tuples.
XlaOp Select(XlaOp pred, XlaOp on_true, XlaOp on_false);
XlaOp Clamp(XlaOp min, XlaOp operand, XlaOp max);

XlaOp ConvertElementType(XlaOp operand, PrimitiveType new_element_type);
XlaOp BitcastConvertType(XlaOp operand, PrimitiveType new_element_type);
XlaOp StochasticConvertType(XlaOp operand, XlaOp random, PrimitiveType new_element_type);
XlaOp ReducePrecision(XlaOp operand, int exponent_bits, int mantissa_bits);

// ---- Shape and data movement. ---------------------------------------------------------------------------------------

XlaOp Broadcast(XlaOp operand, absl::Span<const int64_t> broadcast_sizes);  // new dimensions in front
// Dimension i of the operand becomes dimension broadcast_dimensions[i] of the result. It has the same size, or size 1.
XlaOp BroadcastInDim(XlaOp operand, absl::Span<const int64_t> out_dim_size,
                     absl::Span<const int64_t> broadcast_dimensions);
XlaOp MhloDynamicBroadcastInDim(XlaOp operand, XlaOp output_dimensions, absl::Span<const int64_t> broadcast_dimensions,
                                const Shape& output_shape);
XlaOp Reshape(XlaOp operand, absl::Span<const int64_t> dimensions);
XlaOp Reshape(const Shape& shape, XlaOp operand);
XlaOp ReshapeWithInferredDimension(XlaOp operand, absl::Span<const int64_t> dimensions, int64_t inferred_dimension);
XlaOp DynamicReshape(XlaOp operand, absl::Span<const XlaOp> dim_sizes, absl::Span<const int64_t> new_size_bounds,
                     const std::vector<bool>& dims_are_dynamic);
XlaOp MhloDynamicReshape(XlaOp operand, XlaOp output_shape, const Shape& shape);
XlaOp Collapse(XlaOp operand, absl::Span<const int64_t> dimensions);  // consecutive ones become one
XlaOp Transpose(XlaOp operand, absl::Span<const int64_t> permutation);
XlaOp Rev(XlaOp operand, absl::Span<const int64_t> dimensions);
XlaOp Pad(XlaOp operand, XlaOp padding_value, const PaddingConfig& padding_config);
XlaOp PadInDim(XlaOp operand, XlaOp padding_value, int64_t dimno, int64_t pad_lo, int64_t pad_hi);
XlaOp Slice(XlaOp operand, absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices,
            absl::Span<const int64_t> strides);
XlaOp SliceInDim(XlaOp operand, int64_t start_index, int64_t limit_index, int64_t stride, int64_t dimno);
XlaOp DynamicSlice(XlaOp operand, absl::Span<const XlaOp> start_indices, absl::Span<const int64_t> slice_sizes);
XlaOp DynamicUpdateSlice(XlaOp operand, XlaOp update, absl::Span<const XlaOp> start_indices);
XlaOp ConcatInDim(XlaBuilder* builder, absl::Span<const XlaOp> operands, int64_t dimension);
// s32[]; a constant for a static dimension.
XlaOp GetDimensionSize(XlaOp operand, int64_t dimension);
XlaOp SetDimensionSize(XlaOp operand, XlaOp val, int64_t dimension);
XlaOp RemoveDynamicDimension(XlaOp operand, int64_t dimension);  // its size is the bound from now on
XlaOp Tuple(XlaBuilder* builder, absl::Span<const XlaOp> elements);
XlaOp GetTupleElement(XlaOp tuple_data, int64_t index);

// ---- Contractions, linear algebra, normalisation. ------------------------------------------------------------------
// Without a preferred element type, the result has the operand type of higher precision.

// Contracts the last dimension of lhs with the first of rhs; ranks 1 and 2.
XlaOp Dot(XlaOp lhs, XlaOp rhs, const PrecisionConfig* precision_config = nullptr,
          std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp DotGeneral(XlaOp lhs, XlaOp rhs, const DotDimensionNumbers& dimension_numbers,
                 const PrecisionConfig* precision_config = nullptr,
                 std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ScaledDot(XlaOp lhs, XlaOp rhs, XlaOp lhs_scale, XlaOp rhs_scale, const DotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp RaggedDot(XlaOp lhs, XlaOp rhs, XlaOp group_sizes, const RaggedDotDimensionNumbers& dimension_numbers,
                const PrecisionConfig* precision_config = nullptr,
                std::optional<PrimitiveType> preferred_element_type = std::nullopt);

// Uses CreateDefaultConvDimensionNumbers, with one spatial dimension for each stride.
XlaOp Conv(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
           int64_t feature_group_count = 1, int64_t batch_group_count = 1,
           const PrecisionConfig* precision_config = nullptr,
           std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralPadding(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                             absl::Span<const std::pair<int64_t, int64_t>> padding, int64_t feature_group_count = 1,
                             int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                             std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvWithGeneralDimensions(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides, Padding padding,
                                const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                                int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                                std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvGeneral(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                  absl::Span<const std::pair<int64_t, int64_t>> padding,
                  const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count = 1,
                  int64_t batch_group_count = 1, const PrecisionConfig* precision_config = nullptr,
                  std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp ConvGeneralDilated(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                         absl::Span<const std::pair<int64_t, int64_t>> padding, absl::Span<const int64_t> lhs_dilation,
                         absl::Span<const int64_t> rhs_dilation, const ConvolutionDimensionNumbers& dimension_numbers,
                         int64_t feature_group_count = 1, int64_t batch_group_count = 1,
                         const PrecisionConfig* precision_config = nullptr,
                         std::optional<PrimitiveType> preferred_element_type = std::nullopt,
                         std::optional<std::vector<bool>> window_reversal = std::nullopt);
// Custom calls, for sizes that are known only at run time.
XlaOp DynamicConvForward(XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                         absl::Span<const std::pair<int64_t, int64_t>> padding, absl::Span<const int64_t> lhs_dilation,
                         absl::Span<const int64_t> rhs_dilation, const ConvolutionDimensionNumbers& dimension_numbers,
                         int64_t feature_group_count, int64_t batch_group_count,
                         const PrecisionConfig* precision_config, PaddingType padding_type,
                         std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp DynamicConvKernelGrad(XlaOp activations, XlaOp gradients, absl::Span<const int64_t> window_strides,
                            absl::Span<const std::pair<int64_t, int64_t>> padding,
                            absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                            const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                            int64_t batch_group_count, const PrecisionConfig* precision_config,
                            PaddingType padding_type,
                            std::optional<PrimitiveType> preferred_element_type = std::nullopt);
XlaOp DynamicConvInputGrad(XlaOp input_sizes, XlaOp lhs, XlaOp rhs, absl::Span<const int64_t> window_strides,
                           absl::Span<const std::pair<int64_t, int64_t>> padding,
                           absl::Span<const int64_t> lhs_dilation, absl::Span<const int64_t> rhs_dilation,
                           const ConvolutionDimensionNumbers& dimension_numbers, int64_t feature_group_count,
                           int64_t batch_group_count, const PrecisionConfig* precision_config, PaddingType padding_type,
                           std::optional<PrimitiveType> preferred_element_type = std::nullopt);

XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const int64_t> fft_length);
XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveOptions::Transpose transpose_a);
XlaOp Cholesky(XlaOp a, bool lower);
XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index);
XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index);
XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output, float epsilon,
                    int64_t feature_index);
XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape);
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape);
// Returns (the next state, random bits): unsigned integers as wide as the elements of the shape.
XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape);

// ---- Reductions, windows, sorting, gather and scatter. --------------------------------------------------------------

XlaOp Reduce(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
             absl::Span<const int64_t> dimensions_to_reduce);
XlaOp Reduce(XlaBuilder* builder, absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
             const XlaComputationRef& computation, absl::Span<const int64_t> dimensions_to_reduce);
XlaOp ReduceAll(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation);
XlaOp ReduceWindow(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
                   absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
                   Padding padding);
XlaOp ReduceWindow(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                   const XlaComputationRef& computation, absl::Span<const int64_t> window_dimensions,
                   absl::Span<const int64_t> window_strides, Padding padding);
XlaOp ReduceWindowWithGeneralPadding(XlaOp operand, XlaOp init_value, const XlaComputationRef& computation,
                                     absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding);
XlaOp ReduceWindowWithGeneralPadding(absl::Span<const XlaOp> operands, absl::Span<const XlaOp> init_values,
                                     const XlaComputationRef& computation, absl::Span<const int64_t> window_dimensions,
                                     absl::Span<const int64_t> window_strides, absl::Span<const int64_t> base_dilations,
                                     absl::Span<const int64_t> window_dilations,
                                     absl::Span<const std::pair<int64_t, int64_t>> padding);
XlaOp SelectAndScatter(XlaOp operand, const XlaComputationRef& select, absl::Span<const int64_t> window_dimensions,
                       absl::Span<const int64_t> window_strides, Padding padding, XlaOp source, XlaOp init_value,
                       const XlaComputationRef& scatter);
XlaOp SelectAndScatterWithGeneralPadding(XlaOp operand, const XlaComputationRef& select,
                                         absl::Span<const int64_t> window_dimensions,
                                         absl::Span<const int64_t> window_strides,
                                         absl::Span<const std::pair<int64_t, int64_t>> padding, XlaOp source,
                                         XlaOp init_value, const XlaComputationRef& scatter);
// Static operands are not supported.
XlaOp Map(XlaBuilder* builder, absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
          absl::Span<const int64_t> dimensions, absl::Span<const XlaOp> static_operands = {});
XlaOp Sort(absl::Span<const XlaOp> operands, const XlaComputationRef& comparator, int64_t dimension = -1,
           bool is_stable = false);
XlaOp TopK(XlaOp operand, int64_t k, bool largest);
XlaOp Gather(XlaOp input, XlaOp start_indices, const GatherDimensionNumbers& dimension_numbers,
             absl::Span<const int64_t> slice_sizes, bool indices_are_sorted = false);
XlaOp Scatter(XlaOp input, XlaOp scatter_indices, XlaOp updates, const XlaComputationRef& update_computation,
              const ScatterDimensionNumbers& dimension_numbers, bool indices_are_sorted = false,
              bool unique_indices = false);
XlaOp Scatter(absl::Span<const XlaOp> inputs, XlaOp scatter_indices, absl::Span<const XlaOp> updates,
              const XlaComputationRef& update_computation, const ScatterDimensionNumbers& dimension_numbers,
              bool indices_are_sorted = false, bool unique_indices = false);

// ---- Control and calls. ---------------------------------------------------------------------------------------------

XlaOp Call(XlaBuilder* builder, const XlaComputationRef& computation, absl::Span<const XlaOp> operands);
XlaOp CompositeCall(XlaBuilder* builder, const XlaComputationRef& computation, absl::Span<const XlaOp> operands,
                    const std::string& name, std::optional<absl::string_view> attributes = std::nullopt,
                    std::optional<int64_t> version = std::nullopt);
XlaOp While(const XlaComputationRef& condition, const XlaComputationRef& body, XlaOp init);
XlaOp Conditional(XlaOp predicate, XlaOp true_operand, const XlaComputationRef& true_computation, XlaOp false_operand,
                  const XlaComputationRef& false_computation);
// An index out of range selects the last branch.
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputation* const> branch_computations,
                  absl::Span<const XlaOp> branch_operands);
XlaOp Conditional(XlaOp branch_index, absl::Span<const XlaComputationId> branch_computations,
                  absl::Span<const XlaOp> branch_operands);

using OutputOperandAliasingSpan = absl::Span<const std::pair<ShapeIndex, std::pair<int64_t, ShapeIndex>>>;
XlaOp CustomCall(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                 const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
                 OutputOperandAliasingSpan output_operand_aliasing = {}, const Literal* literal = nullptr,
                 CustomCallSchedule schedule = SCHEDULE_NONE, CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
XlaOp CustomCallWithComputation(XlaBuilder* builder, const std::string& call_target_name,
                                absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                                const Shape& shape, const std::string& opaque = "", bool has_side_effect = false,
                                OutputOperandAliasingSpan output_operand_aliasing = {},
                                const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                                CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
XlaOp CustomCallWithLayout(XlaBuilder* builder, const std::string& call_target_name, absl::Span<const XlaOp> operands,
                           const Shape& shape_with_layout, absl::Span<const Shape> operand_shapes_with_layout,
                           const std::string& opaque = "", bool has_side_effect = false,
                           OutputOperandAliasingSpan output_operand_aliasing = {}, const Literal* literal = nullptr,
                           CustomCallSchedule schedule = SCHEDULE_NONE,
                           CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
XlaOp CustomCallWithComputationAndLayouts(XlaBuilder* builder, const std::string& call_target_name,
                                          absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                                          const Shape& shape_with_layout,
                                          absl::Span<const Shape> operand_shapes_with_layout,
                                          const std::string& opaque = "", bool has_side_effect = false,
                                          OutputOperandAliasingSpan output_operand_aliasing = {},
                                          const Literal* literal = nullptr, CustomCallSchedule schedule = SCHEDULE_NONE,
                                          CustomCallApiVersion api_version = API_VERSION_ORIGINAL);
XlaOp CustomCallWithConvDnums(XlaBuilder* builder, const std::string& call_target_name,
                              absl::Span<const XlaOp> operands, const Shape& shape,
                              absl::Span<const Shape> operand_shapes_with_layout, const std::string& opaque,
                              bool has_side_effect, OutputOperandAliasingSpan output_operand_aliasing,
                              const Literal* literal, Window window, ConvolutionDimensionNumbers dimension_numbers,
                              CustomCallSchedule schedule = SCHEDULE_NONE,
                              CustomCallApiVersion api_version = API_VERSION_ORIGINAL);

// ---- Collectives. Without groups, all replicas are one group. -------------------------------------------------------

XlaOp CrossReplicaSum(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups = {});
XlaOp AllReduce(XlaOp operand, const XlaComputationRef& computation, absl::Span<const ReplicaGroup> replica_groups = {},
                const std::optional<ChannelHandle>& channel_id = std::nullopt,
                const std::optional<Shape>& shape_with_layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllReduceTuple(absl::Span<const XlaOp> operands, const XlaComputationRef& computation,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle>& channel_id = std::nullopt,
                     const std::optional<Shape>& shape_with_layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllGather(XlaOp operand, int64_t all_gather_dimension, int64_t shard_count,
                absl::Span<const ReplicaGroup> replica_groups = {},
                const std::optional<ChannelHandle>& channel_id = std::nullopt,
                const std::optional<Layout>& layout = std::nullopt,
                std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllGatherTuple(absl::Span<const XlaOp> operands, int64_t all_gather_dimension, int64_t shard_count,
                     absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle>& channel_id = std::nullopt,
                     const std::optional<Layout>& layout = std::nullopt,
                     std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp ReduceScatter(XlaOp operand, const XlaComputationRef& computation, int64_t scatter_dimension, int64_t shard_count,
                    absl::Span<const ReplicaGroup> replica_groups = {},
                    const std::optional<ChannelHandle>& channel_id = std::nullopt,
                    const std::optional<Layout>& layout = std::nullopt,
                    std::optional<bool> use_global_device_ids = std::nullopt);
XlaOp AllToAll(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
               absl::Span<const ReplicaGroup> replica_groups = {}, const std::optional<Layout>& layout = std::nullopt,
               const std::optional<ChannelHandle>& channel_id = std::nullopt);
XlaOp AllToAllTuple(absl::Span<const XlaOp> operands, absl::Span<const ReplicaGroup> replica_groups = {},
                    const std::optional<Layout>& layout = std::nullopt,
                    const std::optional<ChannelHandle>& channel_id = std::nullopt);
XlaOp AllToAllTuple(XlaOp operand, int64_t split_dimension, int64_t concat_dimension, int64_t split_count,
                    absl::Span<const ReplicaGroup> replica_groups = {},
                    const std::optional<Layout>& layout = std::nullopt,
                    const std::optional<ChannelHandle>& channel_id = std::nullopt);
XlaOp RaggedAllToAll(XlaOp input, XlaOp input_offsets, XlaOp send_sizes, XlaOp output, XlaOp output_offsets,
                     XlaOp recv_sizes, absl::Span<const ReplicaGroup> replica_groups = {},
                     const std::optional<ChannelHandle>& channel_id = std::nullopt);
XlaOp CollectiveBroadcast(XlaOp operand, absl::Span<const ReplicaGroup> replica_groups,
                          const std::optional<ChannelHandle>& channel_id = std::nullopt);
XlaOp CollectivePermute(XlaOp operand, const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                        const std::optional<ChannelHandle>& channel_id = std::nullopt, bool inplace = false);
XlaOp MultiCollectivePermute(absl::Span<const XlaOp> operands,
                             const std::vector<std::pair<int64_t, int64_t>>& source_target_pairs,
                             const std::optional<ChannelHandle>& channel_id = std::nullopt, bool inplace = false);
XlaOp ReplicaId(XlaBuilder* builder);

// ---- Tokens and transfers. Those without a token make one; outfeeds without a token follow each other. --------------

XlaOp CreateToken(XlaBuilder* builder);
XlaOp AfterAll(XlaBuilder* builder, absl::Span<const XlaOp> tokens);
XlaOp Infeed(XlaBuilder* builder, const Shape& shape, const std::string& config = "");
XlaOp InfeedWithToken(XlaOp token, const Shape& shape, const std::string& config = "");  // (data, token)
void Outfeed(XlaOp operand, const Shape& shape_with_layout, const std::string& outfeed_config);
XlaOp OutfeedWithToken(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const std::string& outfeed_config);
void Send(XlaOp operand, const ChannelHandle& handle);
XlaOp SendWithToken(XlaOp operand, XlaOp token, const ChannelHandle& handle);
XlaOp Recv(XlaBuilder* builder, const Shape& shape, const ChannelHandle& handle);
XlaOp RecvWithToken(XlaOp token, const Shape& shape, const ChannelHandle& handle);  // (data, token)
XlaOp SendToHost(XlaOp operand, XlaOp token, const Shape& shape_with_layout, const ChannelHandle& handle);
XlaOp RecvFromHost(XlaOp token, const Shape& shape, const ChannelHandle& handle);

// ---- Between a program for all devices and the program of one: custom calls around a value that is a shard. ---------
// `single_dim`: the only dimension to shard or unshard; -1: all.

absl::StatusOr<XlaOp> ConvertSpmdFullToShardShape(XlaBuilder* builder, XlaOp input, int single_dim,
                                                  const OpSharding& manual_sharding,
                                                  absl::Span<const int64_t> unspecified_dims);
absl::StatusOr<XlaOp> ConvertSpmdShardToFullShape(XlaBuilder* builder, XlaOp input, const Shape& output_shape,
                                                  int single_dim, const OpSharding& manual_sharding,
                                                  absl::Span<const int64_t> unspecified_dims);

}  // namespace kashi

#endif  // KASHI_HLO_BUILDER_XLA_BUILDER_H_
