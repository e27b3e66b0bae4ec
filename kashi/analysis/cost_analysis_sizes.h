// Elements and bytes of shapes for cost analysis, as finite doubles: the sizes of a hostile module and their products
// may overflow any integer, and infinities would make NaNs. These functions never die or recurse.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_SIZES_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_SIZES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"

namespace kashi::analysis {

inline double Saturate(double count) { return std::min(count, std::numeric_limits<double>::max()); }

// Dimensions may be negative if they are unknown: those count as empty.
inline double ProductOfSizes(absl::Span<const int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes) product = Saturate(product * static_cast<double>(std::max<int64_t>(size, 0)));
  return product;
}

// The elements of an array, a bounded dimension at its bound; 0 for other shapes.
inline double Elements(const Shape& shape) { return shape.IsArray() ? ProductOfSizes(shape.dimensions()) : 0; }

constexpr double kPointerBytes = 8;

// The bytes of one buffer: an array without padding, or the table of pointers of a tuple, which are not followed.
inline double DenseBytes(const Shape& shape) {
  if (shape.IsTuple()) return kPointerBytes * shape.tuple_shapes_size();
  if (shape.IsOpaque()) return kPointerBytes;
  if (!shape.IsArray()) return 0;
  return std::ceil(Elements(shape) * static_cast<double>(ShapeUtil::ElementSizeInBits(shape)) / 8);
}

// DenseBytes on XLA's CPU client: the data of an array with bounded dimensions is followed by the sizes of all its
// dimensions (docs/spec/hlo-ops.md 0.4).
inline double HostBytes(const Shape& shape) {
  const bool is_bounded = shape.IsArray() && absl::c_linear_search(shape.dynamic_dimensions(), true);
  return DenseBytes(shape) + (is_bounded ? sizeof(int32_t) * shape.dimensions_size() : 0);
}

// The sum over all that is in a shape and is no tuple.
template <typename F>
double SumOverLeaves(const Shape& shape, F value_of) {
  double sum = 0;
  std::vector<const Shape*> rest = {&shape};
  while (!rest.empty()) {
    const Shape& next = *rest.back();
    rest.pop_back();
    if (!next.IsTuple()) {
      sum = Saturate(sum + value_of(next));
      continue;
    }
    for (const Shape& element : next.tuple_shapes()) rest.push_back(&element);
  }
  return sum;
}

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_SIZES_H_
