#include "kashi/evaluator/contraction.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kashi/array/primitive_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/strided_copy.h"

namespace kashi::evaluator {
namespace {

bool IsDense(absl::Span<const int64_t> sizes, const StridedView& view) {
  if (view.offset != 0) return false;
  const DimensionVector dense = RowMajorStrides(view.sizes);
  int64_t count = 1, viewed = 1;
  for (int64_t size : sizes) count *= size;
  for (size_t i = 0; i < view.sizes.size(); ++i) {
    viewed *= view.sizes[i];
    if (view.sizes[i] != 1 && view.strides[i] != dense[i]) return false;
  }
  return viewed == count;
}

}  // namespace

absl::StatusOr<Value> ConvertOperand(EvaluationRun& run, Value value, PrimitiveType result,
                                     PrimitiveType accumulation) {
  if (!primitive_util::CastPreservesValues(value.element_type(), result)) {
    KASHI_ASSIGN_OR_RETURN(value, run.Convert(std::move(value), result));
  }
  return run.Convert(std::move(value), accumulation);
}

DimensionVector RowMajorStrides(absl::Span<const int64_t> sizes) {
  DimensionVector strides(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= sizes[i];
  }
  return strides;
}

std::optional<int64_t> MergedStride(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
                                    absl::Span<const int64_t> dimensions) {
  int64_t merged = 0, span = 1;
  for (auto d = dimensions.rbegin(); d != dimensions.rend(); ++d) {
    if (sizes[*d] == 1) continue;
    if (merged == 0) {
      merged = strides[*d];
    } else if (strides[*d] != merged * span) {
      return std::nullopt;
    }
    span *= sizes[*d];
  }
  return merged;
}

absl::StatusOr<Value> MakeDense(EvaluationRun& run, Value value, const StridedView& view) {
  if (IsDense(value.dimensions(), view)) {
    KASHI_ASSIGN_OR_RETURN(DenseShape shape, MakeCheckedDenseShape(value.element_type(), view.sizes));
    return Value::WithShape(std::move(value), std::move(shape));
  }
  KASHI_ASSIGN_OR_RETURN(Value dense, run.MakeArray(value.element_type(), view.sizes));
  if (dense.element_count() == 0) return dense;
  KASHI_RETURN_IF_ERROR(literal::CopyStridedUntil(
      view.sizes, value.element_bytes(), {value.bytes() + view.offset * value.element_bytes(), view.strides},
      {dense.mutable_bytes(), RowMajorStrides(view.sizes)}, [&run] { return run.CheckStopped(); }));
  return dense;
}

absl::StatusOr<Matrices> ViewAsMatrices(EvaluationRun& run, Value value, absl::Span<const int64_t> batch,
                                        absl::Span<const int64_t> rows, absl::Span<const int64_t> columns) {
  const DimensionVector sizes(value.dimensions().begin(), value.dimensions().end());
  const DimensionVector strides = RowMajorStrides(sizes);
  Matrices matrices;
  matrices.batch = SizeOf(sizes, batch);
  matrices.rows = SizeOf(sizes, rows);
  matrices.columns = SizeOf(sizes, columns);
  const std::optional<int64_t> batch_stride = MergedStride(sizes, strides, batch);
  const std::optional<int64_t> row_stride = MergedStride(sizes, strides, rows);
  const std::optional<int64_t> column_stride = MergedStride(sizes, strides, columns);
  const bool is_contiguous =
      row_stride.has_value() && column_stride.has_value() && (*row_stride <= 1 || *column_stride <= 1);
  if (batch_stride.has_value() && is_contiguous) {
    matrices.batch_stride = *batch_stride;
    matrices.row_stride = *row_stride;
    matrices.column_stride = *column_stride == 0 ? 1 : *column_stride;
    matrices.value = std::move(value);
    return matrices;
  }
  StridedView view;
  view.AddAll(sizes, strides, batch);
  view.AddAll(sizes, strides, rows);
  view.AddAll(sizes, strides, columns);
  KASHI_ASSIGN_OR_RETURN(matrices.value, MakeDense(run, std::move(value), view));
  matrices.batch_stride = matrices.rows * matrices.columns;
  matrices.row_stride = matrices.columns;
  return matrices;
}

DimensionVector OtherDimensions(int rank, absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  DimensionVector others;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end()) others.push_back(d);
  }
  return others;
}

int64_t SizeOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> dimensions) {
  int64_t size = 1;
  for (int64_t d : dimensions) size *= sizes[d];
  return size;
}

}  // namespace kashi::evaluator
