#include "kashi/array/index_util.h"

#include <algorithm>

#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::WrappingAdd;
using base::WrappingMultiply;

int64_t IndexUtil::MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> multi_index) {
  return MultidimensionalIndexToLinearIndex(shape, LayoutUtil::MinorToMajor(shape), multi_index);
}

int64_t IndexUtil::MultidimensionalIndexToLinearIndex(const Shape& shape, absl::Span<const int64_t> minor_to_major,
                                                      absl::Span<const int64_t> multi_index) {
  KASHI_DCHECK(multi_index.size() == minor_to_major.size());
  int64_t linear_index = 0;
  int64_t stride = 1;
  for (int64_t dimension : minor_to_major) {
    linear_index = WrappingAdd(linear_index, WrappingMultiply(stride, multi_index[dimension]));
    stride = WrappingMultiply(stride, shape.dimensions(static_cast<int>(dimension)));
  }
  return linear_index;
}

DimensionVector IndexUtil::LinearIndexToMultidimensionalIndex(const Shape& shape, int64_t linear_index) {
  KASHI_DCHECK(linear_index >= 0);
  KASHI_DCHECK(linear_index < ShapeUtil::ElementsIn(shape));
  DimensionVector multi_index(shape.dimensions_size());
  for (int64_t dimension : LayoutUtil::MinorToMajor(shape)) {
    const int64_t size = shape.dimensions(static_cast<int>(dimension));
    KASHI_CHECK_GT(size, 0) << "an array without elements has no index: " << shape;
    multi_index[dimension] = linear_index % size;
    linear_index /= size;
  }
  return multi_index;
}

bool IndexUtil::BumpIndices(const Shape& shape, absl::Span<int64_t> indices) {
  for (int64_t dimension = static_cast<int64_t>(indices.size()) - 1; dimension >= 0; --dimension) {
    if (indices[dimension] + 1 >= shape.dimensions(static_cast<int>(dimension))) continue;
    ++indices[dimension];
    std::fill(indices.begin() + dimension + 1, indices.end(), 0);
    return true;
  }
  return false;
}

int64_t IndexUtil::GetDimensionStride(const Shape& shape, int64_t dimension) {
  int64_t stride = 1;
  for (int64_t more_minor : LayoutUtil::MinorToMajor(shape)) {
    if (more_minor == dimension) break;
    stride = WrappingMultiply(stride, shape.dimensions(static_cast<int>(more_minor)));
  }
  return stride;
}

bool IndexUtil::IndexInBounds(const Shape& shape, absl::Span<const int64_t> index) {
  const auto sizes = shape.dimensions();
  return std::equal(index.begin(), index.end(), sizes.begin(), sizes.end(), [](int64_t i, int64_t n) { return i < n; });
}

int IndexUtil::CompareIndices(absl::Span<const int64_t> lhs, absl::Span<const int64_t> rhs) {
  KASHI_CHECK_EQ(lhs.size(), rhs.size());
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (lhs[i] != rhs[i]) return lhs[i] < rhs[i] ? -1 : 1;
  }
  return 0;
}

}  // namespace kashi
