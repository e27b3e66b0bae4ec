// Shapes in tests.
#ifndef KASHI_ARRAY_SHAPE_TESTING_H_
#define KASHI_ARRAY_SHAPE_TESTING_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_parser.h"

namespace kashi::array {

// S("f32[2,3]{1,0}"). Dies if the text is no shape.
inline Shape S(absl::string_view text) { return ParseShape(text).value(); }

// The shape's text with layouts.
inline std::string Text(const Shape& shape) { return shape.ToString(/*print_layout=*/true); }

// The shape's text with layouts, or the message of the error.
inline std::string Text(const absl::StatusOr<Shape>& shape) {
  return shape.ok() ? Text(*shape) : std::string(shape.status().message());
}

// S(text) without layouts, in tuples too.
inline Shape WithoutLayout(absl::string_view text) {
  Shape shape = S(text);
  LayoutUtil::ClearLayout(&shape);
  return shape;
}

// `leaf` in `depth` tuples of one element. Linear in the depth: an initializer list would copy each tuple.
inline Shape InTuples(Shape leaf, int depth) {
  for (int i = 0; i < depth; ++i) {
    std::vector<Shape> elements;
    elements.push_back(std::move(leaf));
    leaf = Shape(std::move(elements));
  }
  return leaf;
}

// All orders of [0, n).
inline std::vector<std::vector<int64_t>> Permutations(int64_t n) {
  std::vector<int64_t> permutation(n);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::vector<std::vector<int64_t>> all;
  do all.push_back(permutation);
  while (std::next_permutation(permutation.begin(), permutation.end()));
  return all;
}

}  // namespace kashi::array

#endif  // KASHI_ARRAY_SHAPE_TESTING_H_
