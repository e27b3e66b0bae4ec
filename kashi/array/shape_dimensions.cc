// Changing shapes: ShapeUtil's section "changing".
#include <algorithm>
#include <functional>

#include "kashi/array/permutation_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi {
namespace {

// The functions that insert dimensions build the result anew: sizes and minor_to_major are carried over, dynamic flags
// and the layout's other parts are not, as in XLA.
Shape WithDimensions(PrimitiveType element_type, const DimensionVector& dimensions) {
  Shape shape(element_type, {});
  for (int64_t size : dimensions) shape.add_dimensions(size);
  return shape;
}

Shape PermuteDimensionsAndFlags(absl::Span<const int64_t> permutation, const Shape& shape) {
  const std::vector<int64_t> sizes = Permute(shape.dimensions(), permutation);
  const std::vector<bool> is_dynamic = Permute(shape.dynamic_dimensions(), permutation);
  Shape result = shape;
  result.clear_dimensions();
  for (size_t i = 0; i < sizes.size(); ++i) result.add_dimensions(sizes[i], is_dynamic[i]);
  return result;
}

}  // namespace

Shape ShapeUtil::ChangeElementType(const Shape& original, PrimitiveType type) {
  if (original.IsTuple()) {
    std::vector<Shape> elements;
    elements.reserve(original.tuple_shapes_size());
    for (const Shape& element : original.tuple_shapes()) elements.push_back(ChangeElementType(element, type));
    return Shape(std::move(elements));
  }
  Shape result = original;
  result.set_element_type(type);
  if (result.has_layout() && !primitive_util::IsSubByteNonPredType(type)) {
    result.mutable_layout()->set_element_size_in_bits(0);
  }
  return result;
}

Shape ShapeUtil::ComplexComponentShape(const Shape& complex_shape) {
  KASHI_CHECK(primitive_util::IsComplexType(complex_shape.element_type())) << complex_shape;
  return ChangeElementType(complex_shape, primitive_util::ComplexComponentType(complex_shape.element_type()));
}

void ShapeUtil::AppendShapeToTuple(const Shape& shape, Shape* tuple_shape) {
  tuple_shape->mutable_tuple_shapes()->push_back(Shape(shape));  // a copy first: `shape` may be inside the tuple
}

void ShapeUtil::UpdateTupleShape(const Shape& shape, int64_t index, Shape* tuple_shape) {
  KASHI_CHECK(index >= 0 && index < tuple_shape->tuple_shapes_size())
      << "no element " << index << " in " << *tuple_shape;
  *tuple_shape->mutable_tuple_shapes(static_cast<int>(index)) = Shape(shape);
}

void ShapeUtil::UpdateDynamicDimension(Shape* shape, ShapeIndexView index, int64_t dim, bool is_dynamic) {
  Shape* leaf = GetMutableSubshape(shape, index);
  KASHI_CHECK(!leaf->IsTuple()) << *leaf;
  KASHI_CHECK(dim >= 0 && dim < leaf->dimensions_size()) << "no dimension " << dim << " in " << *leaf;
  leaf->set_dynamic_dimension(static_cast<int>(dim), is_dynamic);
}

void ShapeUtil::CopyDynamicDimensions(Shape* to, const Shape& from) {
  KASHI_CHECK_EQ(to->dimensions_size(), from.dimensions_size());
  for (int i = 0; i < from.dimensions_size(); ++i) to->set_dynamic_dimension(i, from.is_dynamic_dimension(i));
}

Shape ShapeUtil::SliceTuple(const Shape& tuple, int64_t start, int64_t limit) {
  const std::vector<Shape>& elements = tuple.tuple_shapes();
  KASHI_CHECK(0 <= start && start <= limit && limit <= static_cast<int64_t>(elements.size()))
      << "no slice [" << start << ", " << limit << ") in " << tuple;
  return Shape(std::vector<Shape>(elements.begin() + start, elements.begin() + limit));
}

void ShapeUtil::AppendMajorDimension(int bound, Shape* shape) {
  if (shape->has_layout()) shape->mutable_layout()->add_minor_to_major(shape->dimensions_size());
  shape->add_dimensions(bound);
}

void ShapeUtil::AppendMinorDimension(int bound, Shape* shape) {
  shape->add_dimensions(bound);
  if (!shape->has_layout()) return;
  DimensionVector& minor_to_major = *shape->mutable_layout()->mutable_minor_to_major();
  minor_to_major.insert(minor_to_major.begin(), shape->dimensions_size() - 1);
}

Shape ShapeUtil::PrependMajorDimension(int64_t bound, Shape shape) {
  DimensionVector dimensions = {bound};
  dimensions.insert(dimensions.end(), shape.dimensions().begin(), shape.dimensions().end());
  Shape result = WithDimensions(shape.element_type(), dimensions);
  if (shape.has_layout()) {
    Layout* layout = result.mutable_layout();
    for (int64_t dimension : shape.layout().minor_to_major()) layout->add_minor_to_major(dimension + 1);
    layout->add_minor_to_major(0);
  }
  return result;
}

Shape ShapeUtil::InsertDimensionAtIndex(Shape shape, int64_t index, int64_t bound) {
  return InsertDimensionsAtIndex(std::move(shape), index, {bound});
}

Shape ShapeUtil::InsertDimensionsAtIndex(Shape shape, int64_t index, absl::Span<const int64_t> bounds) {
  const int64_t rank = shape.dimensions_size();
  const int64_t count = bounds.size();
  KASHI_CHECK(0 <= index && index <= rank) << "cannot insert a dimension at " << index << " of " << shape;
  DimensionVector dimensions(shape.dimensions().begin(), shape.dimensions().end());
  dimensions.insert(dimensions.begin() + index, bounds.begin(), bounds.end());
  Shape result = WithDimensions(shape.element_type(), dimensions);
  if (!shape.has_layout()) return result;

  Layout* layout = result.mutable_layout();
  const auto add_inserted = [&] {
    for (int64_t i = count - 1; i >= 0; --i) layout->add_minor_to_major(index + i);
  };
  if (index == rank) add_inserted();
  for (int64_t dimension : shape.layout().minor_to_major()) {
    layout->add_minor_to_major(dimension < index ? dimension : dimension + count);
    if (dimension == index) add_inserted();
  }
  return result;
}

Shape ShapeUtil::DeleteDimension(int64_t dim_to_delete, Shape shape) {
  shape.DeleteDimension(dim_to_delete);
  return shape;
}

Shape ShapeUtil::DeleteDimensions(absl::Span<const int64_t> dims_to_delete, Shape shape) {
  shape.DeleteDimensions(dims_to_delete);
  return shape;
}

Shape ShapeUtil::FilterDimensions(absl::FunctionRef<bool(int64_t)> keep, Shape shape) {
  DimensionVector dims_to_delete;
  for (int64_t i = 0; i < shape.dimensions_size(); ++i) {
    if (!keep(i)) dims_to_delete.push_back(i);
  }
  return DeleteDimensions(dims_to_delete, std::move(shape));
}

Shape ShapeUtil::DropDegenerateDimensions(const Shape& shape) {
  return FilterDimensions([&](int64_t i) { return shape.dimensions(static_cast<int>(i)) != 1; }, shape);
}

Shape ShapeUtil::MoveDimToMajor(const Shape& shape, int64_t dim) {
  if (shape.IsTuple()) {
    std::vector<Shape> elements;
    elements.reserve(shape.tuple_shapes_size());
    for (const Shape& element : shape.tuple_shapes()) elements.push_back(MoveDimToMajor(element, dim));
    return Shape(std::move(elements));
  }
  Shape result = shape;
  if (!result.has_layout()) LayoutUtil::SetToDefaultLayout(&result);
  *result.mutable_layout() = Layout(LayoutUtil::MoveDimToMajor(result.layout(), dim).minor_to_major());
  return result;
}

Shape ShapeUtil::ReorderLogicalDimensions(const Shape& shape, absl::Span<const int64_t> permutation) {
  return PermuteDimensions(permutation, shape);
}

Shape ShapeUtil::PermuteDimensions(absl::Span<const int64_t> permutation, const Shape& shape) {
  Shape result = PermuteDimensionsAndFlags(permutation, shape);
  if (result.has_layout()) {
    // Old dimension d is now dimension inverse[d], and is to stay at its physical place.
    const std::vector<int64_t> inverse = InversePermutation(permutation);
    KASHI_CHECK(IsPermutation(shape.layout().minor_to_major())) << shape;
    for (int64_t& dimension : *result.mutable_layout()->mutable_minor_to_major()) dimension = inverse[dimension];
  }
  return result;
}

Shape ShapeUtil::PermuteDimensionsIgnoringLayout(absl::Span<const int64_t> permutation, const Shape& shape) {
  return PermuteDimensionsAndFlags(permutation, shape);
}

}  // namespace kashi
