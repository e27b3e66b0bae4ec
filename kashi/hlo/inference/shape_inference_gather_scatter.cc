// Gather and scatter (docs/spec/hlo-ops.md, 5).
#include <algorithm>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"
#include "kashi/hlo/ir/dimension_set.h"

namespace kashi {

using hlo::DimensionSet;
namespace {

using hlo::shape_inference::AllUnique;
using hlo::shape_inference::CompatibleSizes;
using hlo::shape_inference::ResultDimensions;

using IndexedDimensions = absl::Span<const int64_t>;

std::string List(IndexedDimensions dimensions) { return absl::StrJoin(dimensions, ", "); }

bool IsSorted(IndexedDimensions dimensions) { return absl::c_is_sorted(dimensions); }

// The dimensions of `indices`, followed by 1 if the indices are scalars: index_vector_dim is then the rank.
ResultDimensions ExpandedIndices(const Shape& indices, int64_t index_vector_dim) {
  ResultDimensions expanded;
  expanded.AddAllFrom(indices);
  if (index_vector_dim == indices.rank()) expanded.Add(1);
  return expanded;
}

// Errors with equal texts for gather and scatter; `name` is that of the attribute.

// For lists in which the position of an entry counts.
absl::Status CheckRangeOfMap(absl::string_view name, IndexedDimensions dimensions, int64_t rank) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] < 0 || dimensions[i] >= rank) {
      return InvalidArgument("Invalid %s; domain is [0, %d), got: %d->%d.", name, rank, static_cast<int64_t>(i),
                             dimensions[i]);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRange(absl::string_view name, absl::string_view operation, IndexedDimensions dimensions,
                        int64_t rank) {
  for (int64_t d : dimensions) {
    if (d < 0 || d >= rank) {
      return InvalidArgument("Invalid %s set in %s op; valid range is [0, %d), got: %d.", name, operation, rank, d);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSameCount(absl::string_view operand_name, IndexedDimensions operand_dims,
                            absl::string_view indices_name, IndexedDimensions indices_dims,
                            absl::string_view operation) {
  if (operand_dims.size() == indices_dims.size()) return absl::OkStatus();
  return InvalidArgument("%s and %s in %s op must be of the same size; got: %d and %d.", operand_name, indices_name,
                         operation, operand_dims.size(), indices_dims.size());
}

// ---- Gather --------------------------------------------------------------------------------------------------------

absl::Status CheckOffsetDims(IndexedDimensions offset_dims, int64_t indices_rank) {
  if (!IsSorted(offset_dims)) {
    return InvalidArgument("Output window dimensions in gather op must be ascending; got: %s.", List(offset_dims));
  }
  if (!AllUnique(offset_dims)) {
    return InvalidArgument("Output window dimensions in gather op must not repeat; got: %s.", List(offset_dims));
  }
  const int64_t output_rank = static_cast<int64_t>(offset_dims.size()) + indices_rank - 1;
  for (size_t i = 0; i < offset_dims.size(); ++i) {
    if (offset_dims[i] < 0 || offset_dims[i] >= output_rank) {
      return InvalidArgument(
          "Offset dimension %d in gather op is out of bounds; got %d, but should have been in [0,%d).",
          static_cast<int64_t>(i), offset_dims[i], output_rank);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGatherMap(absl::string_view name, IndexedDimensions dimensions, int64_t rank) {
  KASHI_RETURN_IF_ERROR(CheckRangeOfMap(name, dimensions, rank));
  if (AllUnique(dimensions)) return absl::OkStatus();
  return InvalidArgument("Repeated dimensions are not allowed in %s; got: %s.", name, List(dimensions));
}

absl::Status CheckStartIndexMap(const GatherDimensionNumbers& dnums, int64_t operand_rank, IndexedDimensions indices) {
  const int64_t bound = indices[dnums.index_vector_dim()];
  if (!CompatibleSizes(dnums.start_index_map_size(), bound)) {
    return InvalidArgument(
        "Gather op has %d elements in start_index_map and the bound of dimension index_vector_dim=%d of start_indices "
        "is "
        "%d. These two numbers must be equal.",
        dnums.start_index_map_size(), dnums.index_vector_dim(), bound);
  }
  return CheckGatherMap("start_index_map", dnums.start_index_map(), operand_rank);
}

// For dimensions of the operand that the result lacks.
absl::Status CheckLeftOutDims(absl::string_view name, IndexedDimensions dimensions, int64_t operand_rank) {
  KASHI_RETURN_IF_ERROR(CheckRange(name, "gather", dimensions, operand_rank));
  if (!IsSorted(dimensions)) {
    return InvalidArgument("%s in gather op must be sorted; got: %s", name, List(dimensions));
  }
  if (!AllUnique(dimensions)) {
    return InvalidArgument("Repeated dimensions not allowed in %s in gather op; got: %s.", name, List(dimensions));
  }
  return absl::OkStatus();
}

absl::Status CheckGatherDimensionNumbers(const Shape& input, const ResultDimensions& indices,
                                         const GatherDimensionNumbers& dnums) {
  KASHI_RETURN_IF_ERROR(CheckOffsetDims(dnums.offset_dims(), indices.size()));
  KASHI_RETURN_IF_ERROR(CheckStartIndexMap(dnums, input.rank(), indices.sizes()));
  KASHI_RETURN_IF_ERROR(CheckLeftOutDims("collapsed_slice_dims", dnums.collapsed_slice_dims(), input.rank()));
  KASHI_RETURN_IF_ERROR(CheckSameCount("operand_batching_dims", dnums.operand_batching_dims(),
                                       "start_indices_batching_dims", dnums.start_indices_batching_dims(), "gather"));
  KASHI_RETURN_IF_ERROR(CheckLeftOutDims("operand_batching_dims", dnums.operand_batching_dims(), input.rank()));
  return CheckGatherMap("start_indices_batching_dims", dnums.start_indices_batching_dims(), indices.size());
}

// IndexedDimensions that the result lacks have slices of one element, or none. `can_only`: what gather does to them.
absl::Status CheckLeftOutSizes(absl::string_view can_only, IndexedDimensions dimensions,
                               IndexedDimensions slice_sizes) {
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const int64_t size = slice_sizes[dimensions[i]];
    if (size > 1) {
      return InvalidArgument("Gather op can only %s with bound 1 or 0, but bound is %d for index %d at position %d.",
                             can_only, size, dimensions[i], static_cast<int64_t>(i));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSliceSizes(const Shape& input, const GatherDimensionNumbers& dnums, IndexedDimensions slice_sizes) {
  if (static_cast<int64_t>(slice_sizes.size()) != input.rank()) {
    return InvalidArgument(
        "Gather op must have one slice size for every input dimension; got: len(slice_sizes)=%d, input_shape.rank=%d.",
        slice_sizes.size(), input.rank());
  }
  if (static_cast<int>(slice_sizes.size()) !=
      dnums.offset_dims_size() + dnums.collapsed_slice_dims_size() + dnums.operand_batching_dims_size()) {
    return InvalidArgument(
        "All components of the offset index in a gather op must either be a offset dimension or explicitly collapsed "
        "or "
        "explicitly batched; got len(slice_sizes)=%d, output_slice_sizes=%s, collapsed_slice_dims=%s, "
        "operand_batching_dims=%s.",
        slice_sizes.size(), absl::StrJoin(dnums.offset_dims(), ","), absl::StrJoin(dnums.collapsed_slice_dims(), ","),
        absl::StrJoin(dnums.operand_batching_dims(), ","));
  }
  for (int i = 0; i < input.dimensions_size(); ++i) {
    const bool fits = input.is_unbounded_dynamic_dimension(i) || slice_sizes[i] <= input.dimensions(i);
    if (slice_sizes[i] < 0 || !fits) {
      return InvalidArgument("Slice size at index %d in gather op is out of range, must be within [0, %d), got %d.", i,
                             input.dimensions(i) + 1, slice_sizes[i]);
    }
  }
  KASHI_RETURN_IF_ERROR(CheckLeftOutSizes("collapse slice dims", dnums.collapsed_slice_dims(), slice_sizes));
  return CheckLeftOutSizes("have operand_batching_dims", dnums.operand_batching_dims(), slice_sizes);
}

// The slices' dimensions at offset_dims, and those of the indices around them.
absl::StatusOr<Shape> GatherResult(const Shape& input, const Shape& indices, const GatherDimensionNumbers& dnums,
                                   IndexedDimensions slice_sizes) {
  const int64_t batch_rank = indices.rank() - (dnums.index_vector_dim() == indices.rank() ? 0 : 1);
  const int64_t rank = dnums.offset_dims_size() + batch_rank;
  const DimensionSet offsets(rank, {dnums.offset_dims()});
  const DimensionSet left_out(input.rank(), {dnums.collapsed_slice_dims(), dnums.operand_batching_dims()});
  ResultDimensions result;
  int64_t input_dim = 0;
  int64_t index_dim = 0;
  for (int64_t i = 0; i < rank; ++i) {
    if (offsets.contains(i)) {
      while (left_out.contains(input_dim)) ++input_dim;
      const int d = static_cast<int>(input_dim++);
      // A slice that is shorter than the bound always has its full length.
      result.Add(slice_sizes[d], input.is_dynamic_dimension(d) && slice_sizes[d] == input.dimensions(d));
    } else {
      if (index_dim == dnums.index_vector_dim()) ++index_dim;
      result.AddFrom(indices, index_dim++);
    }
  }
  return result.Make(input.element_type());
}

// ---- Scatter -------------------------------------------------------------------------------------------------------

absl::Status CheckUnique(absl::string_view name, IndexedDimensions dimensions) {
  if (AllUnique(dimensions)) return absl::OkStatus();
  return InvalidArgument("%s in scatter op must not repeat; got: %s.", name, List(dimensions));
}

absl::Status CheckAscending(absl::string_view name, IndexedDimensions dimensions) {
  if (!IsSorted(dimensions)) {
    return InvalidArgument("%s in scatter op must be sorted; got: %s.", name, List(dimensions));
  }
  return CheckUnique(name, dimensions);
}

absl::Status CheckUpdateAndInsertedDims(const Shape& operand, const Shape& updates,
                                        const ScatterDimensionNumbers& dnums) {
  KASHI_RETURN_IF_ERROR(CheckAscending("update_window_dims", dnums.update_window_dims()));
  for (int64_t d : dnums.update_window_dims()) {
    if (d < 0 || d >= updates.rank()) {
      return InvalidArgument("Invalid update_window_dims set in scatter op; valid range is [0, %d). got: %d.",
                             updates.rank(), d);
    }
  }
  KASHI_RETURN_IF_ERROR(CheckAscending("inserted_window_dims", dnums.inserted_window_dims()));
  KASHI_RETURN_IF_ERROR(CheckRange("inserted_window_dims", "scatter", dnums.inserted_window_dims(), operand.rank()));
  const int64_t window =
      int64_t{dnums.update_window_dims_size()} + dnums.inserted_window_dims_size() + dnums.input_batching_dims_size();
  if (window != operand.rank()) {
    return InvalidArgument("Scatter op has window of size %d; doesn't match operand of rank %d.", window,
                           operand.rank());
  }
  return absl::OkStatus();
}

absl::Status CheckScatterDimsToOperandDims(const Shape& operand, IndexedDimensions indices,
                                           const ScatterDimensionNumbers& dnums) {
  const int64_t bound = indices[dnums.index_vector_dim()];
  if (!CompatibleSizes(dnums.scatter_dims_to_operand_dims_size(), bound)) {
    return InvalidArgument(
        "Scatter op has %d elements in scatter_dims_to_operand_dims and the bound of dimension index_vector_dim=%d of "
        "scatter_indices is %d. These two numbers must be equal.",
        dnums.scatter_dims_to_operand_dims_size(), dnums.index_vector_dim(), bound);
  }
  KASHI_RETURN_IF_ERROR(
      CheckRangeOfMap("scatter_dims_to_operand_dims mapping", dnums.scatter_dims_to_operand_dims(), operand.rank()));
  if (!AllUnique(dnums.scatter_dims_to_operand_dims())) {
    return InvalidArgument("Repeated dimensions not allowed in scatter_dims_to_operand_dims; got: %s.",
                           List(dnums.scatter_dims_to_operand_dims()));
  }
  return absl::OkStatus();
}

absl::Status CheckScatterBatchingDims(int64_t operand_rank, int64_t indices_rank,
                                      const ScatterDimensionNumbers& dnums) {
  const IndexedDimensions input_dims = dnums.input_batching_dims();
  const IndexedDimensions indices_dims = dnums.scatter_indices_batching_dims();
  KASHI_RETURN_IF_ERROR(
      CheckSameCount("input_batching_dims", input_dims, "scatter_indices_batching_dims", indices_dims, "scatter"));
  KASHI_RETURN_IF_ERROR(CheckAscending("input_batching_dims", input_dims));
  KASHI_RETURN_IF_ERROR(CheckRange("input_batching_dims", "scatter", input_dims, operand_rank));
  KASHI_RETURN_IF_ERROR(CheckUnique("scatter_indices_batching_dims", indices_dims));
  return CheckRange("scatter_indices_batching_dims", "scatter", indices_dims, indices_rank);
}

// The window dimensions of updates are at most as long as those of the operand, if no dimension is left out.
absl::Status CheckUpdateWindow(const Shape& operand, const Shape& updates, const ScatterDimensionNumbers& dnums) {
  const DimensionSet left_out(operand.rank(), {dnums.inserted_window_dims(), dnums.input_batching_dims()});
  std::vector<int64_t> bounds;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (left_out.contains(d)) continue;
    bounds.push_back(operand.dimensions(static_cast<int>(d)));
  }
  for (int i = 0; i < dnums.update_window_dims_size(); ++i) {
    const int64_t d = dnums.update_window_dims(i);
    // `?` counts as less than any size. (A dimension in both lists leaves more bounds than needed, never fewer.)
    const int64_t size = updates.dimensions(static_cast<int>(d));
    if (size > bounds[i]) {
      return InvalidArgument(
          "Bounds of the window dimensions of updates must not exceed the bounds of the corresponding dimensions of "
          "operand. For dimension %d, updates bound is %d, operand bound is %d.",
          d, size, bounds[i]);
    }
  }
  return absl::OkStatus();
}

// The other dimensions of updates are those of the indices, without the dimension of the index vectors.
absl::Status CheckUpdateScatterDims(const Shape& updates, IndexedDimensions indices,
                                    const ScatterDimensionNumbers& dnums) {
  const DimensionSet window(updates.rank(), {dnums.update_window_dims()});
  int64_t index_dim = 0;
  for (int i = 0; i < updates.dimensions_size(); ++i) {
    if (window.contains(i)) continue;
    if (index_dim == dnums.index_vector_dim()) ++index_dim;
    if (!CompatibleSizes(updates.dimensions(i), indices[index_dim])) {
      return InvalidArgument(
          "Bounds of the scatter dimensions of updates must be same as the bounds of the corresponding dimensions of "
          "scatter indices. For scatter dimension %d, updates bound is %d, scatter_indices bound is %d.",
          i, updates.dimensions(i), indices[index_dim]);
    }
    ++index_dim;
  }
  return absl::OkStatus();
}

absl::Status CheckScatterOperand(const Shape& operand, const Shape& updates, const ResultDimensions& indices,
                                 const ScatterDimensionNumbers& dnums) {
  const int64_t updates_rank = int64_t{indices.size()} - 1 + dnums.update_window_dims_size();
  if (updates.rank() != updates_rank) {
    return InvalidArgument("Updates tensor must be of rank %d; got %d.", updates_rank, updates.rank());
  }
  KASHI_RETURN_IF_ERROR(CheckUpdateAndInsertedDims(operand, updates, dnums));
  KASHI_RETURN_IF_ERROR(CheckScatterDimsToOperandDims(operand, indices.sizes(), dnums));
  KASHI_RETURN_IF_ERROR(CheckScatterBatchingDims(operand.rank(), indices.size(), dnums));
  KASHI_RETURN_IF_ERROR(CheckUpdateWindow(operand, updates, dnums));
  return CheckUpdateScatterDims(updates, indices.sizes(), dnums);
}

absl::Status CheckScatterReducer(const ProgramShape& to_apply, absl::Span<const Shape* const> operands,
                                 absl::Span<const Shape* const> updates) {
  std::vector<Shape> init_values;
  std::vector<PrimitiveType> update_types;
  for (size_t i = 0; i < operands.size(); ++i) {
    KASHI_ASSIGN_OR_RETURN(Shape init_value, ShapeUtil::MakeValidatedScalarShape(operands[i]->element_type()));
    init_values.push_back(std::move(init_value));
    update_types.push_back(updates[i]->element_type());
  }
  return hlo::shape_inference::CheckReducer(to_apply, hlo::shape_inference::PointersTo(init_values), update_types);
}

}  // namespace

absl::StatusOr<Shape> ShapeInference::InferGatherShape(const Shape& input_shape, const Shape& start_indices_shape,
                                                       const GatherDimensionNumbers& gather_dim_numbers,
                                                       absl::Span<const int64_t> slice_sizes) {
  const GatherDimensionNumbers& dnums = gather_dim_numbers;
  KASHI_RETURN_IF_ERROR(ExpectArray(input_shape, "input tensor operand of gather op"));
  KASHI_RETURN_IF_ERROR(ExpectArray(start_indices_shape, "gather indices operand of gather op"));
  if (!ShapeUtil::ElementIsIntegral(start_indices_shape)) {
    return InvalidArgument("Gather indices parameter must be an integral tensor; got %s.",
                           ShapeUtil::HumanString(start_indices_shape));
  }
  if (dnums.index_vector_dim() < 0 || dnums.index_vector_dim() > start_indices_shape.rank()) {
    return InvalidArgument(
        "Gather index leaf dimension must be within [0, rank(start_indices) + 1). rank(start_indices) is %d and gather "
        "index leaf dimension is %d.",
        start_indices_shape.rank(), dnums.index_vector_dim());
  }
  const ResultDimensions indices = ExpandedIndices(start_indices_shape, dnums.index_vector_dim());
  KASHI_RETURN_IF_ERROR(CheckGatherDimensionNumbers(input_shape, indices, dnums));
  KASHI_RETURN_IF_ERROR(CheckSliceSizes(input_shape, dnums, slice_sizes));

  return GatherResult(input_shape, start_indices_shape, dnums, slice_sizes);
}

absl::StatusOr<Shape> ShapeInference::InferScatterShape(absl::Span<const Shape* const> arg_shapes,
                                                        const ProgramShape& to_apply_shape,
                                                        const ScatterDimensionNumbers& scatter_dim_numbers) {
  const ScatterDimensionNumbers& dnums = scatter_dim_numbers;
  const size_t count = arg_shapes.size() / 2;
  if (arg_shapes.size() % 2 == 0) {
    return InvalidArgument("Invalid argument count of scatter op: Expected %d, saw %d", count * 2 + 1,
                           arg_shapes.size());
  }
  const absl::Span<const Shape* const> operands = arg_shapes.subspan(0, count);
  const absl::Span<const Shape* const> updates = arg_shapes.subspan(count + 1);
  const Shape& indices_shape = *arg_shapes[count];
  KASHI_RETURN_IF_ERROR(ExpectArray(indices_shape, "scatter indices of scatter op"));
  if (!ShapeUtil::ElementIsIntegral(indices_shape)) {
    return InvalidArgument("Scatter indices parameter must be an integral tensor; got %s.",
                           ShapeUtil::HumanString(indices_shape));
  }
  if (dnums.index_vector_dim() < 0 || dnums.index_vector_dim() > indices_shape.rank()) {
    return InvalidArgument(
        "Scatter index leaf dimension must be within [0, rank(scatter_indices) + 1). rank(scatter_indices) is %d and "
        "scatter index leaf dimension is %d.",
        indices_shape.rank(), dnums.index_vector_dim());
  }
  const ResultDimensions indices = ExpandedIndices(indices_shape, dnums.index_vector_dim());
  for (size_t i = 0; i < count; ++i) {
    KASHI_RETURN_IF_ERROR(ExpectArray(*operands[i], absl::StrCat("operand ", i, " of scatter op")));
    KASHI_RETURN_IF_ERROR(ExpectArray(*updates[i], absl::StrCat("updates ", i, " of scatter op")));
    KASHI_RETURN_IF_ERROR(CheckScatterOperand(*operands[i], *updates[i], indices, dnums));
  }
  KASHI_RETURN_IF_ERROR(CheckScatterReducer(to_apply_shape, operands, updates));
  return hlo::shape_inference::MaybeTuple(hlo::shape_inference::CopyShapes(operands));
}

}  // namespace kashi
