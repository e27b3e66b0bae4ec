// Operations among devices (docs/spec/hlo-ops.md, 7.2).
#include <optional>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/inference/shape_inference_internal.h"

namespace kashi {
namespace {

using hlo::shape_inference::CopyShapes;
using hlo::shape_inference::MaybeTuple;

// `shape` with dimension d of that size. The rest, layout included, stays. Pre: d is a dimension.
absl::StatusOr<Shape> WithDimension(const Shape& shape, int64_t d, int64_t size, bool is_dynamic) {
  if (!Shape::IsValidDimensionSize(size, is_dynamic)) {
    return InvalidArgument("Invalid size %d of dimension %d of %s.", size, d, ShapeUtil::HumanString(shape));
  }
  Shape result = shape;
  result.set_dimensions(static_cast<int>(d), size, is_dynamic);
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(result));
  return result;
}

// size * count, or `?`, which stays.
absl::StatusOr<int64_t> Multiplied(int64_t size, int64_t count) {
  if (size == Shape::kUnboundedSize) return size;
  const std::optional<int64_t> product = CheckedMultiply(size, count);
  if (!product.has_value()) return InvalidArgument("%d times the size %d does not fit 64 bits.", count, size);
  return *product;
}

bool IsDimensionOf(const Shape& shape, int64_t d) { return shape.IsArray() && 0 <= d && d < shape.rank(); }

// The check that all-gather and reduce-scatter make for each operand.
absl::Status CheckSharded(const Shape& operand, int64_t dimension, absl::string_view what) {
  // XLA reads the dimension first, and dies for tuples.
  if (operand.IsArray()) {
    KASHI_RET_CHECK(dimension < operand.rank(), "dimension %d of %s", dimension, ShapeUtil::HumanString(operand));
  }
  return ExpectArray(operand, what);
}

absl::Status ExpectArrays(absl::Span<const Shape* const> shapes, absl::string_view what) {
  for (const Shape* shape : shapes) KASHI_RETURN_IF_ERROR(ExpectArray(*shape, what));
  return absl::OkStatus();
}

// Element 1 of the result of a start.
absl::StatusOr<Shape> StartedResult(const Shape& start) {
  KASHI_RET_CHECK(start.IsTuple() && start.tuple_shapes_size() >= 2, "no result in %s", ShapeUtil::HumanString(start));
  return start.tuple_shapes(1);
}

// The operands without the roots, which are the last operand.
absl::StatusOr<absl::Span<const Shape* const>> WithoutRoots(absl::Span<const Shape* const> operands,
                                                            bool has_dynamic_root, absl::string_view what) {
  if (operands.empty()) return InvalidArgument("%s must have at least one operand", what);
  if (!has_dynamic_root) return operands;
  if (operands.size() < 2) {
    return InvalidArgument("%s with has_dynamic_root must have at least one data operand followed by a root operand",
                           what);
  }
  const absl::Span<const Shape* const> data = operands.first(operands.size() - 1);
  const Shape& roots = *operands.back();
  const bool is_list = roots.IsArray() && roots.element_type() == S32 && roots.rank() == 1;
  if (is_list && roots.dimensions(0) == static_cast<int64_t>(data.size())) return data;
  return InvalidArgument(
      "The last operand of %s with has_dynamic_root=true must be a 1-D array of S32 with the same number of elements "
      "as "
      "the number of data operands, but got %s",
      what, ShapeUtil::HumanString(roots));
}

}  // namespace

// ---- Gathering and scattering --------------------------------------------------------------------------------------

absl::StatusOr<Shape> ShapeInference::InferAllGatherShape(absl::Span<const Shape* const> operand_shapes,
                                                          int64_t all_gather_dimension, int64_t shard_count) {
  KASHI_RET_CHECK(all_gather_dimension >= 0, "all-gather dimension %d", all_gather_dimension);
  KASHI_RET_CHECK(shard_count > 0, "shard count %d", shard_count);
  std::vector<Shape> results;
  for (const Shape* operand : operand_shapes) {
    KASHI_RETURN_IF_ERROR(CheckSharded(*operand, all_gather_dimension, "operand of all-gather"));
    const int64_t size = operand->dimensions(static_cast<int>(all_gather_dimension));
    KASHI_ASSIGN_OR_RETURN(const int64_t gathered, Multiplied(size, shard_count));
    KASHI_ASSIGN_OR_RETURN(Shape result, WithDimension(*operand, all_gather_dimension, gathered,
                                                       /*is_dynamic=*/gathered == Shape::kUnboundedSize));
    results.push_back(std::move(result));
  }
  return MaybeTuple(results);
}

absl::StatusOr<Shape> ShapeInference::InferAllGatherStartShape(absl::Span<const Shape* const> operand_shapes,
                                                               int64_t all_gather_dimension, int64_t shard_count) {
  KASHI_ASSIGN_OR_RETURN(Shape result, InferAllGatherShape(operand_shapes, all_gather_dimension, shard_count));
  return ShapeUtil::MakeTupleShape({MaybeTuple(CopyShapes(operand_shapes)), std::move(result)});
}

absl::StatusOr<Shape> ShapeInference::InferAllGatherDoneShape(const Shape& all_gather_start_shape) {
  return StartedResult(all_gather_start_shape);
}

absl::StatusOr<Shape> ShapeInference::InferReduceScatterShape(absl::Span<const Shape* const> operand_shapes,
                                                              int64_t scatter_dimension, int64_t shard_count) {
  KASHI_RET_CHECK(scatter_dimension >= 0, "scatter dimension %d", scatter_dimension);
  KASHI_RET_CHECK(shard_count > 0, "shard count %d", shard_count);
  std::vector<Shape> results;
  for (const Shape* operand : operand_shapes) {
    KASHI_RETURN_IF_ERROR(CheckSharded(*operand, scatter_dimension, "operand of reduce-scatter"));
    const int d = static_cast<int>(scatter_dimension);
    const int64_t size = operand->dimensions(d);
    if (!operand->is_unbounded_dynamic_dimension(d) && size % shard_count != 0) {
      return InvalidArgument("ReduceScatter operand scatter dimension size %d must be dividable by shard_count %d.",
                             size, shard_count);
    }
    // Even a bounded dimension becomes unbounded when it is shared out.
    const bool is_dynamic = operand->is_dynamic_dimension(d);
    KASHI_ASSIGN_OR_RETURN(Shape result,
                           WithDimension(*operand, scatter_dimension,
                                         is_dynamic ? Shape::kUnboundedSize : size / shard_count, is_dynamic));
    results.push_back(std::move(result));
  }
  return MaybeTuple(results);
}

// ---- Reducing ------------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> ShapeInference::InferAllReduceShape(absl::Span<const Shape* const> operand_shapes) {
  KASHI_RETURN_IF_ERROR(ExpectArrays(operand_shapes, "operand of cross replica sum"));
  return MaybeTuple(CopyShapes(operand_shapes));
}

absl::StatusOr<Shape> ShapeInference::InferCollectiveReduceShape(absl::Span<const Shape* const> operand_shapes,
                                                                 bool has_dynamic_root) {
  KASHI_ASSIGN_OR_RETURN(const absl::Span<const Shape* const> data,
                         WithoutRoots(operand_shapes, has_dynamic_root, "collective-reduce"));
  KASHI_RETURN_IF_ERROR(ExpectArrays(data, "operand of collective-reduce"));
  return MaybeTuple(CopyShapes(data));
}

absl::StatusOr<Shape> ShapeInference::InferAllReduceStartShape(absl::Span<const Shape* const> operand_shapes) {
  return InferAllReduceShape(operand_shapes);
}

absl::StatusOr<Shape> ShapeInference::InferAllReduceDoneShape(const Shape& operand_shape) { return operand_shape; }

// ---- Exchanging ----------------------------------------------------------------------------------------------------

absl::StatusOr<Shape> ShapeInference::InferAllToAllShape(const Shape& shape, int64_t split_dimension,
                                                         int64_t concat_dimension, int64_t split_count) {
  KASHI_RET_CHECK(split_count > 0, "split count %d", split_count);
  KASHI_RET_CHECK(!shape.is_bounded_dynamic(), "all-to-all of %s", ShapeUtil::HumanString(shape));
  if (!IsDimensionOf(shape, split_dimension)) {
    return InvalidArgument("AllToAll split_dimension %d is out-of-bounds in shape %s.", split_dimension,
                           ShapeUtil::HumanString(shape));
  }
  if (!IsDimensionOf(shape, concat_dimension)) {
    return InvalidArgument("AllToAll concat_dimension %d is out-of-bounds in shape %s.", concat_dimension,
                           ShapeUtil::HumanString(shape));
  }
  const int split = static_cast<int>(split_dimension);
  const int64_t size = shape.dimensions(split);
  if (!shape.is_unbounded_dynamic_dimension(split) && size % split_count != 0) {
    return InvalidArgument("AllToAll split dimension size %d must be dividable by split_count %d.", size, split_count);
  }
  std::vector<int64_t> sizes(shape.dimensions().begin(), shape.dimensions().end());
  if (size != Shape::kUnboundedSize) sizes[split] = size / split_count;
  KASHI_ASSIGN_OR_RETURN(sizes[concat_dimension], Multiplied(sizes[concat_dimension], split_count));
  const absl::Span<const bool> flags = shape.dynamic_dimensions();
  return ShapeUtil::MakeValidatedShape(shape.element_type(), sizes, std::vector<bool>(flags.begin(), flags.end()));
}

absl::StatusOr<Shape> ShapeInference::InferAllToAllTupleShape(absl::Span<const Shape* const> operand_shapes) {
  KASHI_RET_CHECK(!operand_shapes.empty(), "all-to-all has no operands");
  for (const Shape* operand : operand_shapes) {
    if (operand->is_unbounded_dynamic()) {
      return InvalidArgument("AllToAllTuple does not support unbounded dynamic shapes");
    }
  }
  for (size_t i = 1; i < operand_shapes.size(); ++i) {
    if (!Shape::Equal().IgnoreMemorySpaceInLayout()(*operand_shapes[0], *operand_shapes[i])) {
      return InvalidArgument(
          "HLO all-to-all has operands with different shapes: the 0th operand shape %s, but the %dth operand has shape "
          "%s.",
          ShapeUtil::HumanStringWithLayout(*operand_shapes[0]), static_cast<int64_t>(i),
          ShapeUtil::HumanStringWithLayout(*operand_shapes[i]));
    }
  }
  return ShapeUtil::MakeTupleShape(CopyShapes(operand_shapes));
}

absl::StatusOr<Shape> ShapeInference::InferRaggedAllToAllShape(absl::Span<const Shape* const> operand_shapes) {
  KASHI_RET_CHECK(operand_shapes.size() == 6, "ragged-all-to-all of %d operands", operand_shapes.size());
  for (int i = 2; i < 6; ++i) {
    const Shape& operand = *operand_shapes[i];
    if (!operand.IsArray() || (operand.rank() != 1 && operand.rank() != 2)) {
      return InvalidArgument("RaggedAllToAll operand %d must be rank 1 or 2: %s", i, ShapeUtil::HumanString(operand));
    }
    if (!ShapeUtil::Equal(*operand_shapes[2], operand)) {
      return InvalidArgument("RaggedAllToAll operands have different shapes (%d, %d): %s vs %s", 2, i,
                             ShapeUtil::HumanStringWithLayout(*operand_shapes[2]),
                             ShapeUtil::HumanStringWithLayout(operand));
    }
  }
  return *operand_shapes[1];
}

absl::StatusOr<Shape> ShapeInference::InferCollectiveBroadcastShape(absl::Span<const Shape* const> operand_shapes,
                                                                    bool has_dynamic_root) {
  KASHI_RET_CHECK(!operand_shapes.empty(), "collective-broadcast has no operands");
  KASHI_RETURN_IF_ERROR(ExpectArray(*operand_shapes[0], "operand of collective-broadcast"));
  if (!has_dynamic_root) return *operand_shapes[0];  // XLA's verifier accepts others, which do not count
  KASHI_ASSIGN_OR_RETURN(const absl::Span<const Shape* const> data,
                         WithoutRoots(operand_shapes, has_dynamic_root, "collective-broadcast"));
  KASHI_RETURN_IF_ERROR(ExpectArrays(data, "operand of collective-broadcast"));
  return MaybeTuple(CopyShapes(data));
}

absl::StatusOr<Shape> ShapeInference::InferCollectivePermuteShape(absl::Span<const Shape* const> operand_shapes,
                                                                  bool inplace) {
  if (inplace) {
    KASHI_RET_CHECK(operand_shapes.size() == 4, "collective-permute in place of %d operands", operand_shapes.size());
    return *operand_shapes[1];
  }
  KASHI_RETURN_IF_ERROR(ExpectArrays(operand_shapes, "operand of collective-permute"));
  return MaybeTuple(CopyShapes(operand_shapes));
}

absl::StatusOr<Shape> ShapeInference::InferCollectivePermuteStartShape(absl::Span<const Shape* const> operand_shapes,
                                                                       absl::Span<const Shape> context_shapes,
                                                                       bool inplace) {
  KASHI_ASSIGN_OR_RETURN(Shape result, InferCollectivePermuteShape(operand_shapes, inplace));
  const absl::Span<const Shape* const> sources = inplace ? operand_shapes.subspan(0, 1) : operand_shapes;
  std::vector<Shape> elements = {MaybeTuple(CopyShapes(sources)), std::move(result)};
  elements.insert(elements.end(), context_shapes.begin(), context_shapes.end());
  return ShapeUtil::MakeTupleShape(elements);
}

absl::StatusOr<Shape> ShapeInference::InferCollectivePermuteDoneShape(const Shape& operand_shape) {
  return StartedResult(operand_shape);
}

}  // namespace kashi
