// Prepares the operands of dot, ragged-dot, scaled-dot and convolution for matrix products: converts the elements to
// the accumulation type, and brings the dimensions into the order of matrices.
#ifndef KASHI_EVALUATOR_CONTRACTION_H_
#define KASHI_EVALUATOR_CONTRACTION_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/kernels/matrix_product.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// Converts elements to `accumulation`, a type that has all values of `result`. As in XLA, they are rounded to `result`
// first (docs/spec/hlo-ops.md 4): an f32 operand of a bf16 dot is rounded to bf16.
absl::StatusOr<Value> ConvertOperand(EvaluationRun& run, Value value, PrimitiveType result, PrimitiveType accumulation);

// A view of an array: [i, j, ...] is element offset + i * strides[0] + j * strides[1] + ... Strides may be 0 or
// negative. Dimensions are added from the slowest to the fastest.
struct StridedView {
  int64_t offset = 0;
  DimensionVector sizes;
  DimensionVector strides;

  void Add(int64_t size, int64_t stride) {
    sizes.push_back(size);
    strides.push_back(stride);
  }
  void AddReversed(int64_t size, int64_t stride) {
    if (size > 0) offset += (size - 1) * stride;
    Add(size, -stride);
  }
  void AddAll(absl::Span<const int64_t> array_sizes, absl::Span<const int64_t> array_strides,
              absl::Span<const int64_t> dimensions) {
    for (int64_t d : dimensions) Add(array_sizes[d], array_strides[d]);
  }
};

// Strides of a dense row-major array.
DimensionVector RowMajorStrides(absl::Span<const int64_t> sizes);

// The stride of these dimensions merged into one; 0 if they have only one element. nullopt if they cannot be merged.
//
//   f32[4,3,5], dimensions {0,1}: 5         {1,0}, {0,2}: none
std::optional<int64_t> MergedStride(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides,
                                    absl::Span<const int64_t> dimensions);

// The elements of the view as a dense array. A copy, unless `value` is this array already.
absl::StatusOr<Value> MakeDense(EvaluationRun& run, Value value, const StridedView& view);

// The dimensions of an array in three groups, each merged in the given order: matrices [batch, rows, columns].
struct Matrices {
  Value value;
  int64_t batch = 1, rows = 1, columns = 1;
  int64_t batch_stride = 0, row_stride = 1, column_stride = 1;

  template <typename T>
  kernels::MatrixOperand<T> As() const {
    return {static_cast<const T*>(value.untyped_data()), batch_stride, row_stride, column_stride};
  }
};

// Copies only if a group does not have one stride, or if neither rows nor columns are contiguous.
absl::StatusOr<Matrices> ViewAsMatrices(EvaluationRun& run, Value value, absl::Span<const int64_t> batch,
                                        absl::Span<const int64_t> rows, absl::Span<const int64_t> columns);

// Dimensions of an array of this rank that are in neither list, ascending.
DimensionVector OtherDimensions(int rank, absl::Span<const int64_t> a, absl::Span<const int64_t> b);

// The product of the sizes of these dimensions, which must be dimensions of an existing array.
int64_t SizeOf(absl::Span<const int64_t> sizes, absl::Span<const int64_t> dimensions);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_CONTRACTION_H_
