// Shape inference: the shape of an operation's result from the shapes of its operands. Used by the reader, the builder
// and the verifier.
//
//   InferBinaryOpShape(kAdd, f32[2,1], f32[2,3], {})       f32[2,3]{1,0}
//   InferSliceShape(f32[10], {1}, {8}, {3})                f32[3]{0}
//   InferConcatOpShape({f32[2], f32[<=3]}, 0)              f32[<=5]{0}
//
// Pure functions: from shapes and attributes to the result's shape or an error. They check in upstream's order, and
// errors have upstream's texts in essence (docs/spec/hlo-ops.md; the sections are named below): INVALID_ARGUMENT,
// INTERNAL where upstream has a RET_CHECK. Where XLA dies, or silently wraps around, these functions return an error.
// Sizes may be bounded (`<=3`) or unbounded (`?`); the results then are, too. Operands may have layouts or not. Some
// functions, as their comments say, keep them; all other results have the default layout.
//
// Cost: linear in the sizes of the shapes. The functions are in shape_inference_*.cc by topic;
// shape_inference_internal.h has shared code. InferInstructionShape (instruction_shape.h) infers the shape of a
// whole instruction.
#ifndef KASHI_HLO_INFERENCE_SHAPE_INFERENCE_H_
#define KASHI_HLO_INFERENCE_SHAPE_INFERENCE_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi {

class HloInstruction;

class ShapeInference {
 public:
  ShapeInference() = delete;

  // -------------------------------------------------------------------- element-wise (shape_inference_elementwise.cc)
  // docs/spec/hlo-ops.md, 1. An opcode without such a form is INVALID_ARGUMENT or UNIMPLEMENTED. The result keeps the
  // operand's layout if nothing was broadcast (of two operands, the first's; for select see broadcast.h).

  static absl::StatusOr<Shape> InferUnaryOpShape(HloOpcode opcode, const Shape& shape);
  static absl::StatusOr<Shape> InferUnaryOpShape(HloOpcode opcode, const HloInstruction* operand);

  // `broadcast_dimensions` as in broadcast.h; operations in HLO text have none. compare gives PRED.
  static absl::StatusOr<Shape> InferBinaryOpShape(HloOpcode opcode, const Shape& lhs, const Shape& rhs,
                                                  absl::Span<const int64_t> broadcast_dimensions);
  static absl::StatusOr<Shape> InferBinaryOpShape(HloOpcode opcode, const HloInstruction* lhs,
                                                  const HloInstruction* rhs);

  // clamp and select.
  static absl::StatusOr<Shape> InferTernaryOpShape(HloOpcode opcode, const Shape& lhs, const Shape& rhs,
                                                   const Shape& ehs);
  static absl::StatusOr<Shape> InferTernaryOpShape(HloOpcode opcode, const HloInstruction* lhs,
                                                   const HloInstruction* rhs, const HloInstruction* ehs);

  // tuple and sort.
  static absl::StatusOr<Shape> InferVariadicOpShape(HloOpcode opcode, absl::Span<const Shape* const> operand_shapes);
  static absl::StatusOr<Shape> InferVariadicOpShape(HloOpcode opcode, absl::Span<const HloInstruction* const> operands);

  // The shape to which scalars among `shapes` are broadcast: the first shape that is not a scalar; nullopt if there is
  // none. INTERNAL if two shapes that are not scalars differ in their sizes.
  static absl::StatusOr<std::optional<Shape>> InferScalarBroadcastShape(absl::Span<const Shape> shapes);

  // --------------------------------------------------------------------- conversions (shape_inference_elementwise.cc)
  // 1.5. All keep the operand's layout.

  static absl::StatusOr<Shape> InferConvertShape(const Shape& operand_shape, PrimitiveType new_element_type);
  // A narrower type appends a dimension, most minor; a wider type removes the last one, wherever it is in the layout.
  static absl::StatusOr<Shape> InferBitcastConvertShape(const Shape& operand_shape, PrimitiveType new_element_type);
  static absl::StatusOr<Shape> InferStochasticConvertShape(const Shape& operand_shape, const Shape& random_shape,
                                                           PrimitiveType new_element_type);
  static absl::StatusOr<Shape> InferReducePrecisionShape(const Shape& operand_shape, int exponent_bits,
                                                         int mantissa_bits);

  // ----------------------------------------------------------- moving data (shape_inference_movement.cc, _reshape.cc)
  // 2.

  static absl::StatusOr<Shape> InferSliceShape(const Shape& arg, absl::Span<const int64_t> starts,
                                               absl::Span<const int64_t> limits, absl::Span<const int64_t> strides);
  // The indices are scalars of one integral type, one for each dimension, or one vector. Without
  // `allow_scalar_indices` only the vector is accepted.
  static absl::StatusOr<Shape> InferDynamicSliceShape(const Shape& operand_shape,
                                                      absl::Span<const Shape> start_index_shapes,
                                                      absl::Span<const int64_t> slice_sizes,
                                                      bool allow_scalar_indices = true);
  // Keeps operand_shape's layout.
  static absl::StatusOr<Shape> InferDynamicUpdateSliceShape(const Shape& operand_shape, const Shape& update_shape,
                                                            absl::Span<const Shape> start_index_shapes,
                                                            bool allow_scalar_indices = true);
  static absl::StatusOr<Shape> InferPadShape(const Shape& operand_shape, const Shape& padding_value_shape,
                                             const PaddingConfig& padding_config);
  // Keeps the layout.
  static absl::StatusOr<Shape> InferReverseShape(const Shape& operand_shape, absl::Span<const int64_t> dimensions);
  // Shuffles by a rotation, the only mode: a shift for each dimension.
  static absl::StatusOr<Shape> InferShuffleShape(const Shape& operand_shape, absl::Span<const int64_t> dimensions,
                                                 absl::Span<const int64_t> shifts);
  static absl::StatusOr<Shape> InferConcatOpShape(absl::Span<const Shape* const> arg_shapes, int64_t dimension);
  // The layout is permuted too, so that the transpose is a bitcast.
  static absl::StatusOr<Shape> InferTransposeShape(const Shape& operand_shape, absl::Span<const int64_t> dimensions);
  // Result dimensions are dynamic where this follows from the operand without doubt; `inferred_dimension` (-1: none)
  // decides if several are possible. UNIMPLEMENTED if none is.
  static absl::StatusOr<Shape> InferReshapeShape(const Shape& operand, absl::Span<const int64_t> dimensions,
                                                 int64_t inferred_dimension);
  static absl::StatusOr<Shape> InferDynamicReshapeShape(const Shape& operand,
                                                        absl::Span<const Shape* const> dim_size_shapes,
                                                        absl::Span<const int64_t> new_size_bounds,
                                                        const std::vector<bool>& dims_are_dynamic);
  // Adds new dimensions of these sizes before those of the operand.
  static absl::StatusOr<Shape> InferBroadcastShape(const Shape& operand, absl::Span<const int64_t> broadcast_sizes);
  // Dimension i of the operand becomes dimension broadcast_dimensions[i] of the result, whose shape is `output_shape`.
  static absl::StatusOr<Shape> InferBroadcastShape(const Shape& operand_shape, const Shape& output_shape,
                                                   absl::Span<const int64_t> broadcast_dimensions);
  static absl::StatusOr<Shape> InferGetTupleElementShape(const Shape& arg, int64_t index);
  // s32[]
  static absl::StatusOr<Shape> InferGetDimensionSizeShape(const Shape& shape, int64_t dimension);
  // `shape`, with this dimension dynamic.
  static absl::StatusOr<Shape> InferSetDimensionSizeShape(const Shape& shape, const Shape& val_shape,
                                                          int64_t dimension);

  // ------------------------------------------------------------ reductions and windows (shape_inference_reduction.cc)
  // 3.

  static absl::StatusOr<Shape> InferMapShape(absl::Span<const Shape* const> arg_shapes, const ProgramShape& to_apply,
                                             absl::Span<const int64_t> dimensions);
  // Arguments: the arrays, then an initial value for each. A tuple if `to_apply` returns one.
  static absl::StatusOr<Shape> InferReduceShape(absl::Span<const Shape* const> arg_shapes,
                                                absl::Span<const int64_t> dimensions_to_reduce,
                                                const ProgramShape& to_apply);
  // Without a computation, checks only the window.
  static absl::StatusOr<Shape> InferReduceWindowShape(const Shape& operand_shape, const Shape& init_value,
                                                      const Window& window);
  static absl::StatusOr<Shape> InferReduceWindowShape(const Shape& operand_shape, const Shape& init_value,
                                                      const Window& window, const ProgramShape& to_apply_shape);
  // For several arrays, with an initial value for each. Without a computation, the result is a tuple.
  static absl::StatusOr<Shape> InferReduceWindowShape(absl::Span<const Shape* const> operands,
                                                      absl::Span<const Shape* const> init_values, const Window& window);
  static absl::StatusOr<Shape> InferReduceWindowShape(absl::Span<const Shape* const> operands,
                                                      absl::Span<const Shape* const> init_values, const Window& window,
                                                      const ProgramShape& to_apply_shape);
  // Keeps operand_shape's layout.
  static absl::StatusOr<Shape> InferSelectAndScatterShape(const Shape& operand_shape, const ProgramShape& select_shape,
                                                          const Window& window, const Shape& source_shape,
                                                          const Shape& init_value_shape,
                                                          const ProgramShape& scatter_shape);
  // (values, s32 indices), whose last dimension is k.
  static absl::StatusOr<Shape> InferTopKShape(const Shape& operand_shape, int64_t k);
  // Arguments: the arrays, then num_carries initial values. `to_apply` takes a slice of each array and the carries, and
  // returns slices of the results and the carries. The shape: the results with `dimension` inserted, then the carries.
  static absl::StatusOr<Shape> InferScanShape(absl::Span<const Shape* const> arg_shapes, const ProgramShape& to_apply,
                                              int64_t dimension, int64_t num_carries);
  // Makes a window from lists. All lists but the first may be empty, which means 1 (padding: 0, reversal: false).
  static absl::StatusOr<Window> InferWindowFromDimensions(
      absl::Span<const int64_t> window_dimensions, absl::Span<const int64_t> window_strides,
      absl::Span<const std::pair<int64_t, int64_t>> padding, absl::Span<const int64_t> lhs_dilation,
      absl::Span<const int64_t> rhs_dilation, std::optional<std::vector<bool>> window_reversal = std::nullopt);

  // -------------------------------------------------------------------- contractions (shape_inference_contraction.cc)
  // 4. Without a preferred element type the result has the operand type of higher precision.

  static absl::StatusOr<Shape> InferDotOpShape(const Shape& lhs, const Shape& rhs,
                                               const DotDimensionNumbers& dimension_numbers,
                                               std::optional<PrimitiveType> preferred_element_type);
  static absl::StatusOr<Shape> InferRaggedDotOpShape(const Shape& lhs, const Shape& rhs, const Shape& group_sizes,
                                                     const RaggedDotDimensionNumbers& ragged_dot_dim_nums,
                                                     std::optional<PrimitiveType> preferred_element_type);
  // `rhs` may be a tuple of a sparse kernel and its metadata: then the kernel is used.
  static absl::StatusOr<Shape> InferConvolveShape(const Shape& lhs, const Shape& rhs, int64_t feature_group_count,
                                                  int64_t batch_group_count, const Window& window,
                                                  const ConvolutionDimensionNumbers& dimension_numbers,
                                                  std::optional<PrimitiveType> preferred_element_type);

  // ----------------------------------------------------------- gather and scatter (shape_inference_gather_scatter.cc)
  // 5.

  static absl::StatusOr<Shape> InferGatherShape(const Shape& input_shape, const Shape& start_indices_shape,
                                                const GatherDimensionNumbers& gather_dim_numbers,
                                                absl::Span<const int64_t> slice_sizes);
  // Arguments: n arrays, the indices, n updates.
  static absl::StatusOr<Shape> InferScatterShape(absl::Span<const Shape* const> arg_shapes,
                                                 const ProgramShape& to_apply_shape,
                                                 const ScatterDimensionNumbers& scatter_dim_numbers);

  // ------------------------------------------------------------------------------- calls (shape_inference_control.cc)
  // 6. The result is the called computation's, layout included.

  static absl::StatusOr<Shape> InferCallShape(absl::Span<const Shape* const> arg_shapes, const ProgramShape& to_apply);
  static absl::StatusOr<Shape> InferWhileShape(const ProgramShape& condition, const ProgramShape& body,
                                               const Shape& init);
  // Each branch has one computation and one operand.
  static absl::StatusOr<Shape> InferConditionalShape(const Shape& branch_index,
                                                     absl::Span<const ProgramShape> branch_computations,
                                                     absl::Span<const Shape> branch_operands);

  // ---------------------------------------------------------------------- collectives (shape_inference_collective.cc)
  // 7.2. One operand gives an array, several give a tuple with one array for each.

  static absl::StatusOr<Shape> InferAllGatherShape(absl::Span<const Shape* const> operand_shapes,
                                                   int64_t all_gather_dimension, int64_t shard_count);
  // (operands, results)
  static absl::StatusOr<Shape> InferAllGatherStartShape(absl::Span<const Shape* const> operand_shapes,
                                                        int64_t all_gather_dimension, int64_t shard_count);
  static absl::StatusOr<Shape> InferAllGatherDoneShape(const Shape& all_gather_start_shape);
  static absl::StatusOr<Shape> InferAllReduceShape(absl::Span<const Shape* const> operand_shapes);
  static absl::StatusOr<Shape> InferAllReduceStartShape(absl::Span<const Shape* const> operand_shapes);
  static absl::StatusOr<Shape> InferAllReduceDoneShape(const Shape& operand_shape);
  static absl::StatusOr<Shape> InferReduceScatterShape(absl::Span<const Shape* const> operand_shapes,
                                                       int64_t scatter_dimension, int64_t shard_count);
  // The form with one operand, which is split; the parts are concatenated.
  static absl::StatusOr<Shape> InferAllToAllShape(const Shape& shape, int64_t split_dimension, int64_t concat_dimension,
                                                  int64_t split_count);
  static absl::StatusOr<Shape> InferAllToAllTupleShape(absl::Span<const Shape* const> operand_shapes);
  // The result is the second operand's shape.
  static absl::StatusOr<Shape> InferRaggedAllToAllShape(absl::Span<const Shape* const> operand_shapes);
  // `has_dynamic_root`: the last operand gives, for each other operand, the position of the root in the group.
  static absl::StatusOr<Shape> InferCollectiveBroadcastShape(absl::Span<const Shape* const> operand_shapes,
                                                             bool has_dynamic_root = false);
  static absl::StatusOr<Shape> InferCollectiveReduceShape(absl::Span<const Shape* const> operand_shapes,
                                                          bool has_dynamic_root = false);
  // `inplace`: operands are input, output, input offsets, output offsets.
  static absl::StatusOr<Shape> InferCollectivePermuteShape(absl::Span<const Shape* const> operand_shapes, bool inplace);
  // (operands, results, contexts...)
  static absl::StatusOr<Shape> InferCollectivePermuteStartShape(absl::Span<const Shape* const> operand_shapes,
                                                                absl::Span<const Shape> context_shapes, bool inplace);
  static absl::StatusOr<Shape> InferCollectivePermuteDoneShape(const Shape& operand_shape);

  // ----------------------------- linear algebra and normalisation (shape_inference_linear_algebra.cc, _batch_norm.cc)
  // 8.

  static absl::StatusOr<Shape> InferFftShape(const Shape& in, FftType fft_type, absl::Span<const int64_t> fft_length);
  static absl::StatusOr<Shape> InferTriangularSolveShape(const Shape& a, const Shape& b,
                                                         const TriangularSolveOptions& options);
  static absl::StatusOr<Shape> InferCholeskyShape(const Shape& a);
  static absl::StatusOr<Shape> InferBatchNormTrainingShape(const Shape& operand_shape, const Shape& scale_shape,
                                                           const Shape& offset_shape, int64_t feature_index);
  static absl::StatusOr<Shape> InferBatchNormInferenceShape(const Shape& operand_shape, const Shape& scale_shape,
                                                            const Shape& offset_shape, const Shape& mean_shape,
                                                            const Shape& variance_shape, int64_t feature_index);
  static absl::StatusOr<Shape> InferBatchNormGradShape(const Shape& operand_shape, const Shape& scale_shape,
                                                       const Shape& mean_shape, const Shape& var_shape,
                                                       const Shape& output_grad_shape, int64_t feature_index);
};

}  // namespace kashi

#endif  // KASHI_HLO_INFERENCE_SHAPE_INFERENCE_H_
