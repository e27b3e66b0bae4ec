#include "kashi/codegen/dot_matrices.h"

#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/shape.h"
#include "kashi/evaluator/contraction.h"

namespace kashi::codegen {
namespace {

// The strides of an array with these dimensions; nothing if its layout is not that of a matrix.
std::optional<DotMatrices::Strides> StridesOf(const Shape& shape, absl::Span<const int64_t> batch,
                                              absl::Span<const int64_t> rows, absl::Span<const int64_t> columns) {
  const DimensionVector strides = evaluator::RowMajorStrides(shape.dimensions());
  const std::optional<int64_t> batch_stride = evaluator::MergedStride(shape.dimensions(), strides, batch);
  const std::optional<int64_t> row_stride = evaluator::MergedStride(shape.dimensions(), strides, rows);
  const std::optional<int64_t> column_stride = evaluator::MergedStride(shape.dimensions(), strides, columns);
  if (!batch_stride.has_value() || !row_stride.has_value() || !column_stride.has_value()) return std::nullopt;
  if (*row_stride > 1 && *column_stride > 1) return std::nullopt;
  return DotMatrices::Strides{*batch_stride, *row_stride, *column_stride == 0 ? 1 : *column_stride};
}

}  // namespace

std::optional<DotMatrices> DotMatricesOf(const HloInstruction& dot) {
  const DotDimensionNumbers& dnums = dot.dot_dimension_numbers();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  const PrimitiveType type = dot.shape().element_type();
  if ((type != F32 && type != F64) || lhs.element_type() != type || rhs.element_type() != type) return std::nullopt;
  const DimensionVector lhs_rows = evaluator::OtherDimensions(lhs.dimensions_size(), dnums.lhs_batch_dimensions(),
                                                              dnums.lhs_contracting_dimensions());
  const DimensionVector rhs_columns = evaluator::OtherDimensions(rhs.dimensions_size(), dnums.rhs_batch_dimensions(),
                                                                 dnums.rhs_contracting_dimensions());
  const auto left = StridesOf(lhs, dnums.lhs_batch_dimensions(), lhs_rows, dnums.lhs_contracting_dimensions());
  const auto right = StridesOf(rhs, dnums.rhs_batch_dimensions(), dnums.rhs_contracting_dimensions(), rhs_columns);
  if (!left.has_value() || !right.has_value()) return std::nullopt;
  const kernels::MatrixProductSizes sizes = {evaluator::SizeOf(lhs.dimensions(), dnums.lhs_batch_dimensions()),
                                             evaluator::SizeOf(lhs.dimensions(), lhs_rows),
                                             evaluator::SizeOf(lhs.dimensions(), dnums.lhs_contracting_dimensions()),
                                             evaluator::SizeOf(rhs.dimensions(), rhs_columns)};
  return DotMatrices{type, sizes, *left, *right};
}

}  // namespace kashi::codegen
