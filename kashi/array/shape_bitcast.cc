// Reshapes and transposes that move no bytes: ShapeUtil's section "bitcasts". Dense arrays, by minor_to_major alone.
#include <algorithm>

#include "kashi/array/common_factors.h"
#include "kashi/array/permutation_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/util.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::WrappingAdd;
using base::WrappingMultiply;
namespace {

// The distance between neighbours along each dimension when minor_to_major[0] varies fastest. Wraps around like
// ElementsIn.
DimensionVector Strides(const Shape& shape, absl::Span<const int64_t> minor_to_major) {
  KASHI_CHECK_EQ(minor_to_major.size(), shape.dimensions_size()) << shape;
  KASHI_CHECK(IsPermutation(minor_to_major)) << shape;
  DimensionVector strides(shape.dimensions_size());
  int64_t stride = 1;
  for (int64_t dimension : minor_to_major) {
    strides[dimension] = stride;
    stride = WrappingMultiply(stride, shape.dimensions(static_cast<int>(dimension)));
  }
  return strides;
}

DimensionVector PhysicalStrides(const Shape& shape) { return Strides(shape, shape.layout().minor_to_major()); }

DimensionVector LogicalStrides(const Shape& shape) {
  return Strides(shape, LayoutUtil::MakeDescendingLayout(shape.dimensions_size()).minor_to_major());
}

// True if every index of `from` with a single 1 has the physical position of the index of `to` that is the same element
// of the reshape. Positions are linear in an index as long as no digit carries, so this on both sides decides for all
// elements: rank² work for any sizes.
bool UnitIndicesStay(const Shape& from, const Shape& to) {
  const DimensionVector from_logical = LogicalStrides(from);
  const DimensionVector from_physical = PhysicalStrides(from);
  const DimensionVector to_physical = PhysicalStrides(to);
  for (int d = 0; d < from.dimensions_size(); ++d) {
    if (from.dimensions(d) <= 1) continue;
    int64_t position = 0;
    int64_t rest = from_logical[d];
    for (int i = to.dimensions_size() - 1; i >= 0; --i) {
      position = WrappingAdd(position, WrappingMultiply(rest % to.dimensions(i), to_physical[i]));
      rest /= to.dimensions(i);
    }
    if (position != from_physical[d]) return false;
  }
  return true;
}

// AlignLayouts where no size is 1: the order of the output's dimensions, minor to major.
// Each piece of the input that the reshape merges or splits must be together and row-major in memory already; then the
// output's piece takes its place.
std::optional<DimensionVector> AlignedOrder(const Shape& input_shape, const Shape& output_shape) {
  const auto cuts = CommonFactors(input_shape.dimensions(), output_shape.dimensions());
  const absl::Span<const int64_t> input_order = input_shape.layout().minor_to_major();
  DimensionVector piece_of(input_shape.dimensions_size());
  for (size_t piece = 0; piece + 1 < cuts.size(); ++piece) {
    const int64_t start = cuts[piece].first, end = cuts[piece + 1].first;
    if (start == end) continue;
    int64_t position = PositionInContainer(input_order, start);
    piece_of[start] = piece;
    for (int64_t i = start + 1; i < end; ++i) {
      --position;
      if (position < 0 || input_order[position] != i) return std::nullopt;
      piece_of[i] = piece;
    }
  }
  DimensionVector order;
  for (size_t position = 0; position < input_order.size();) {
    const int64_t piece = piece_of[input_order[position]];
    for (int64_t i = cuts[piece + 1].second - 1; i >= cuts[piece].second; --i) order.push_back(i);
    position += cuts[piece + 1].first - cuts[piece].first;
  }
  return order;
}

}  // namespace

std::optional<ShapeUtil::ShapeEqualityDescriptor> ShapeUtil::InsertedOrDeleted1SizedDimensions(
    const Shape& shape_pre, const Shape& shape_post) {
  if (ElementsIn(shape_pre) != ElementsIn(shape_post)) return std::nullopt;
  auto unmodified = DimensionsUnmodifiedByReshape(shape_pre, shape_post);
  unmodified.emplace_back(shape_pre.dimensions_size(), shape_post.dimensions_size());
  ShapeEqualityDescriptor descriptor;
  // Everything between two unmodified pairs has to be of size 1; XLA lets a size of 0 pass as well.
  int pre = 0, post = 0;
  for (const auto& [next_pre, next_post] : unmodified) {
    for (; pre < next_pre; ++pre) {
      if (shape_pre.dimensions(pre) > 1) return std::nullopt;
      descriptor.deleted_dimensions.push_back(pre);
    }
    for (; post < next_post; ++post) {
      if (shape_post.dimensions(post) > 1) return std::nullopt;
      descriptor.inserted_dimensions.push_back(post);
    }
    ++pre;
    ++post;
  }
  return descriptor;
}

std::vector<std::pair<int64_t, int64_t>> ShapeUtil::DimensionsUnmodifiedByReshape(const Shape& input_shape,
                                                                                  const Shape& output_shape) {
  const auto cuts = CommonFactors(input_shape.dimensions(), output_shape.dimensions());
  std::vector<std::pair<int64_t, int64_t>> unmodified;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const bool is_one_to_one = cuts[i + 1].first - cuts[i].first == 1 && cuts[i + 1].second - cuts[i].second == 1;
    if (is_one_to_one) unmodified.push_back(cuts[i]);
  }
  return unmodified;
}

std::optional<std::vector<int64_t>> ShapeUtil::ReshapeLeavesDimensionsUnmodified(
    const Shape& from_shape, const Shape& to_shape, absl::Span<const int64_t> input_dim_indices) {
  if (!std::is_sorted(input_dim_indices.begin(), input_dim_indices.end())) return std::nullopt;
  const auto unmodified = DimensionsUnmodifiedByReshape(from_shape, to_shape);
  std::vector<int64_t> output_dim_indices;
  auto it = unmodified.begin();
  for (int64_t index : input_dim_indices) {
    while (it != unmodified.end() && it->first < index) ++it;
    if (it == unmodified.end() || it->first != index) return std::nullopt;
    output_dim_indices.push_back(it->second);
  }
  return output_dim_indices;
}

bool ShapeUtil::TransposeIsBitcast(const Shape& input_shape, const Shape& output_shape,
                                   absl::Span<const int64_t> dimension_mapping, bool ignore_element_type) {
  const Layout& input_layout = input_shape.layout();
  const Layout& output_layout = output_shape.layout();
  if (!ignore_element_type && !SameElementType(input_shape, output_shape)) return false;
  // Output dimension d is input dimension mapping[d]; in memory both must come in the same order.
  return ContainersEqual(ComposePermutations(dimension_mapping, output_layout.minor_to_major()),
                         input_layout.minor_to_major());
}

bool ShapeUtil::ReshapeIsBitcast(const Shape& input_shape, const Shape& output_shape, bool ignore_element_type) {
  KASHI_CHECK(input_shape.has_layout()) << input_shape;
  KASHI_CHECK(output_shape.has_layout()) << output_shape;
  if (!ignore_element_type && !SameElementType(input_shape, output_shape)) return false;
  const int64_t elements = ElementsIn(input_shape);
  if (elements != ElementsIn(output_shape)) return false;
  if (elements == 0) return true;
  // At most 63 dimensions are larger than 1, unless the product has wrapped.
  if (StaticExtentProduct(input_shape).second || StaticExtentProduct(output_shape).second) return false;
  return UnitIndicesStay(input_shape, output_shape) && UnitIndicesStay(output_shape, input_shape);
}

bool ShapeUtil::IsReshapeOrTransposeBitcast(const Shape& a, const Shape& b, bool ignore_element_type) {
  if (!ignore_element_type && !SameElementType(a, b)) return false;
  return EqualIgnoringElementType(a, b) || ReshapeIsBitcast(a, b, /*ignore_element_type=*/true) ||
         DeduceTransposeDimensionsForBitcast(a, b).has_value();
}

std::optional<std::vector<int64_t>> ShapeUtil::DeduceTransposeDimensionsForBitcast(const Shape& input_shape,
                                                                                   const Shape& output_shape) {
  if (input_shape.dimensions_size() != output_shape.dimensions_size()) return std::nullopt;
  KASHI_CHECK(IsPermutation(input_shape.layout().minor_to_major())) << input_shape;
  // The one mapping for which TransposeIsBitcast holds; the sizes must agree with it.
  std::vector<int64_t> mapping = ComposePermutations(input_shape.layout().minor_to_major(),
                                                     InversePermutation(output_shape.layout().minor_to_major()));
  for (size_t i = 0; i < mapping.size(); ++i) {
    if (output_shape.dimensions(i) != input_shape.dimensions(mapping[i])) return std::nullopt;
  }
  return mapping;
}

bool ShapeUtil::BitcastDecompositionTrt::IsTranspose1Identity() const {
  return std::is_sorted(transpose1_dims.begin(), transpose1_dims.end());
}

bool ShapeUtil::BitcastDecompositionTrt::IsTranspose2Identity() const {
  return std::is_sorted(transpose2_dims.begin(), transpose2_dims.end());
}

// Both sides transposed to physical order are row-major, and a reshape between row-major arrays only needs the same
// number of elements. (A bitcast that changes the width of the elements has no decomposition.)
bool ShapeUtil::IsDecomposableBitcast(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && ElementsIn(a) == ElementsIn(b);
}

std::optional<ShapeUtil::BitcastDecompositionTrt> ShapeUtil::DecomposeBitcastToTrt(const Shape& input_shape,
                                                                                   const Shape& output_shape) {
  KASHI_CHECK(input_shape.has_layout()) << input_shape;
  KASHI_CHECK(output_shape.has_layout()) << output_shape;
  if (!IsDecomposableBitcast(input_shape, output_shape)) return std::nullopt;
  BitcastDecompositionTrt trt;
  trt.transpose1_shape = MakeShapeWithDescendingLayoutAndSamePhysicalLayout(input_shape);
  trt.reshape_shape = MakeShapeWithDescendingLayoutAndSamePhysicalLayout(output_shape);
  trt.transpose1_dims = DeduceTransposeDimensionsForBitcast(input_shape, trt.transpose1_shape).value();
  trt.transpose2_dims = DeduceTransposeDimensionsForBitcast(trt.reshape_shape, output_shape).value();
  return trt;
}

ShapeUtil::BitcastDecomposition ShapeUtil::DecomposeBitcast(const Shape& input_shape, const Shape& output_shape) {
  KASHI_CHECK(input_shape.has_layout()) << input_shape;
  KASHI_CHECK(output_shape.has_layout()) << output_shape;
  if (ReshapeIsBitcast(input_shape, output_shape, /*ignore_element_type=*/true)) return BitcastDecompositionReshape{};
  if (auto dims = DeduceTransposeDimensionsForBitcast(input_shape, output_shape)) {
    return BitcastDecompositionTranspose{*std::move(dims)};
  }
  if (auto trt = DecomposeBitcastToTrt(input_shape, output_shape)) return *std::move(trt);
  return std::nullopt;
}

std::optional<Shape> ShapeUtil::AlignLayouts(const Shape& input_shape, const Shape& output_shape) {
  KASHI_CHECK(IsPermutation(input_shape.layout().minor_to_major())) << input_shape;
  if (ElementsIn(input_shape) != ElementsIn(output_shape)) return std::nullopt;
  // Dimensions of size 1 can stand anywhere, so the others are put in order without them.
  std::optional<DimensionVector> order =
      AlignedOrder(DropDegenerateDimensions(input_shape), DropDegenerateDimensions(output_shape));
  DimensionVector wide, of_one;
  for (int i = 0; i < output_shape.dimensions_size(); ++i) {
    (output_shape.dimensions(i) == 1 ? of_one : wide).push_back(i);
  }
  if (!order.has_value() || order->size() != wide.size()) return std::nullopt;
  for (int64_t& dimension : *order) dimension = wide[dimension];
  order->insert(order->end(), of_one.rbegin(), of_one.rend());
  Shape result = output_shape;
  *result.mutable_layout() = Layout(*order);
  return result;
}

absl::InlinedVector<int64_t, 3> ShapeUtil::GetNormalizedLogicalTransposeShape(
    const Shape& output_shape, absl::Span<const int64_t> dims, absl::InlinedVector<int64_t, 3>& permutation) {
  KASHI_CHECK_EQ(dims.size(), output_shape.dimensions_size());
  KASHI_CHECK(IsPermutation(dims));
  const int64_t rank = output_shape.dimensions_size();
  // The output dimensions in the input's order, without those of size 1; then the place of each in this list.
  DimensionVector input_order;
  for (int64_t output_dim : InversePermutation(dims)) {
    if (output_shape.dimensions(static_cast<int>(output_dim)) != 1) input_order.push_back(output_dim);
  }
  DimensionVector place(rank, -1);
  for (size_t i = 0; i < input_order.size(); ++i) place[input_order[i]] = i;

  absl::InlinedVector<int64_t, 3> sizes;
  DimensionVector first_place;  // of each merged dimension
  int64_t last_place = -2;
  for (int i = 0; i < rank; ++i) {
    if (place[i] < 0) continue;
    if (place[i] == last_place + 1) {
      sizes.back() = WrappingMultiply(sizes.back(), output_shape.dimensions(i));
    } else {
      sizes.push_back(output_shape.dimensions(i));
      first_place.push_back(place[i]);
    }
    last_place = place[i];
  }
  permutation.clear();
  for (int64_t mine : first_place) {
    permutation.push_back(std::count_if(first_place.begin(), first_place.end(), [&](int64_t p) { return p < mine; }));
  }
  return sizes;
}

}  // namespace kashi
