// ShapeUtil: making shapes. The work is in the MakeValidated… functions; Make… calls them and dies on their error.

#include <optional>
#include <utility>

#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

template <typename T>
T ValueOrDie(absl::StatusOr<T> value) {
  KASHI_CHECK_OK(value);
  return *std::move(value);
}

// Every partial product counts, in order and beginning with the bytes of an element: [2^62,2,0] is too large although
// it has no elements, [0,2^62,2] is not (array-model.md, 2.6).
absl::Status CheckSize(PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  std::optional<int64_t> bytes = primitive_util::ByteWidth(element_type);
  for (int64_t size : dimensions) {
    if (size == Shape::kUnboundedSize) continue;
    if (size < 0) {
      return InvalidArgument("invalid shape type=%d, dims=[%s]", static_cast<int>(element_type),
                             absl::StrJoin(dimensions, ","));
    }
    bytes = CheckedMultiply(*bytes, size);
    if (!bytes.has_value()) {
      return InvalidArgument("overflow in static extent product: dimensions=[%s]", absl::StrJoin(dimensions, ","));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  if (!primitive_util::IsArrayType(element_type)) {
    return InvalidArgument("element type must be an array type, got %s", PrimitiveType_Name(element_type));
  }
  KASHI_RETURN_IF_ERROR(CheckSize(element_type, dimensions));
  Shape shape(element_type, dimensions);
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (dimensions[i] == Shape::kUnboundedSize) shape.set_unbounded_dynamic_dimension(i);
  }
  *shape.mutable_layout() = LayoutUtil::GetDefaultLayoutForShape(shape);
  return shape;
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                                                    const std::vector<bool>& dynamic_dimensions) {
  if (dynamic_dimensions.size() != dimensions.size()) {
    return InvalidArgument("dynamic dimensions size %d did not match number of dimensions %d",
                           dynamic_dimensions.size(), dimensions.size());
  }
  KASHI_ASSIGN_OR_RETURN(Shape shape, MakeValidatedShape(element_type, dimensions));
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    if (dimensions[i] == Shape::kUnboundedSize && !dynamic_dimensions[i]) {
      return InvalidArgument("Cannot mark a dynamic dimension at dim=%d as static", i);
    }
    shape.set_dynamic_dimension(i, dynamic_dimensions[i]);
  }
  return shape;
}

Shape ShapeUtil::MakeShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  return ValueOrDie(MakeValidatedShape(element_type, dimensions));
}

Shape ShapeUtil::MakeShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                           const std::vector<bool>& dynamic_dimensions) {
  return ValueOrDie(MakeValidatedShape(element_type, dimensions, dynamic_dimensions));
}

Shape ShapeUtil::MakeScalarShape(PrimitiveType element_type) { return MakeShape(element_type, {}); }

absl::StatusOr<Shape> ShapeUtil::MakeValidatedScalarShape(PrimitiveType element_type) {
  return MakeValidatedShape(element_type, {});
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShapeWithDenseLayout(
    PrimitiveType element_type, absl::Span<const int64_t> dimensions, absl::Span<const int64_t> minor_to_major,
    absl::Span<const Tile> tiles, int64_t tail_padding_alignment_in_elements, int64_t element_size_in_bits,
    int64_t memory_space, absl::Span<const SplitConfig> split_configs) {
  if (dimensions.size() != minor_to_major.size()) {
    return InvalidArgument("Dimensions size is %d, but layout size is %d.", dimensions.size(), minor_to_major.size());
  }
  KASHI_ASSIGN_OR_RETURN(Shape shape, MakeValidatedShape(element_type, dimensions));
  if (element_size_in_bits == 8 * ByteSizeOfPrimitiveType(element_type)) element_size_in_bits = 0;
  *shape.mutable_layout() = LayoutUtil::MakeLayout(
      minor_to_major, tiles, tail_padding_alignment_in_elements, /*index_primitive_type=*/PRIMITIVE_TYPE_INVALID,
      /*pointer_primitive_type=*/PRIMITIVE_TYPE_INVALID, element_size_in_bits, memory_space, split_configs);
  KASHI_RETURN_IF_ERROR(ValidateShape(shape));
  return shape;
}

Shape ShapeUtil::MakeShapeWithDenseLayout(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
                                          absl::Span<const int64_t> minor_to_major, absl::Span<const Tile> tiles,
                                          int64_t tail_padding_alignment_in_elements, int64_t element_size_in_bits,
                                          int64_t memory_space, absl::Span<const SplitConfig> split_configs) {
  return ValueOrDie(MakeValidatedShapeWithDenseLayout(element_type, dimensions, minor_to_major, tiles,
                                                      tail_padding_alignment_in_elements, element_size_in_bits,
                                                      memory_space, split_configs));
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShapeWithSparseLayout(PrimitiveType element_type,
                                                                    absl::Span<const int64_t> dimensions,
                                                                    absl::Span<const int64_t> minor_to_major) {
  return MakeValidatedShapeWithDenseLayout(element_type, dimensions, minor_to_major);
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShapeWithDescendingLayout(PrimitiveType element_type,
                                                                        absl::Span<const int64_t> dimensions) {
  return MakeValidatedShape(element_type, dimensions);  // the default layout is the descending one
}

Shape ShapeUtil::MakeShapeWithDescendingLayout(PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  return ValueOrDie(MakeValidatedShapeWithDescendingLayout(element_type, dimensions));
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout(const Shape& shape) {
  if (!shape.has_layout()) return InvalidArgument("shape %s does not have a layout", shape.ToString());
  const Layout& layout = shape.layout();
  KASHI_RETURN_IF_ERROR(LayoutUtil::ValidateLayoutForShape(layout, shape));
  DimensionVector dimensions;
  std::vector<bool> dynamic_dimensions;
  for (int64_t physical = 0; physical < shape.rank(); ++physical) {
    const int dimension = static_cast<int>(LayoutUtil::Major(layout, physical));
    dimensions.push_back(shape.dimensions(dimension));
    dynamic_dimensions.push_back(shape.is_dynamic_dimension(dimension));
  }
  KASHI_ASSIGN_OR_RETURN(Shape result, MakeValidatedShape(shape.element_type(), dimensions, dynamic_dimensions));
  Layout* result_layout = result.mutable_layout();
  result_layout->mutable_tiles()->assign(layout.tiles().begin(), layout.tiles().end());
  result_layout->set_element_size_in_bits(layout.element_size_in_bits());
  result_layout->set_tail_padding_alignment_in_elements(layout.tail_padding_alignment_in_elements());
  result_layout->set_memory_space(layout.memory_space());
  return result;
}

Shape ShapeUtil::MakeShapeWithDescendingLayoutAndSamePhysicalLayout(const Shape& shape) {
  return ValueOrDie(MakeValidatedShapeWithDescendingLayoutAndSamePhysicalLayout(shape));
}

Shape ShapeUtil::MakeShapeWithStaticDimensions(const Shape& shape) {
  Shape result = shape;
  result.clear_dynamic_dimensions();
  return result;
}

Shape ShapeUtil::MakeStaticShape(const Shape& original) {
  Shape result = MakeShapeWithStaticDimensions(original);
  if (result.has_layout()) result.mutable_layout()->set_dynamic_shape_metadata_prefix_bytes(0);
  return result;
}

// Elements are not validated, as in upstream's release builds: a tree made bottom-up would be walked once a level.
Shape ShapeUtil::MakeTupleShape(absl::Span<const Shape> shapes) {
  return Shape(std::vector<Shape>(shapes.begin(), shapes.end()));
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedTupleShape(absl::Span<const Shape> shapes) {
  for (const Shape& shape : shapes) KASHI_RETURN_IF_ERROR(ValidateShapeWithOptionalLayout(shape));
  return MakeTupleShape(shapes);
}

Shape ShapeUtil::MakeTupleShapeWithPtrs(absl::Span<const Shape* const> shapes) {
  Shape result(std::vector<Shape>{});
  result.mutable_tuple_shapes()->reserve(shapes.size());
  for (const Shape* shape : shapes) AppendShapeToTuple(*shape, &result);
  return result;
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedTupleShapeWithPtrs(absl::Span<const Shape* const> shapes) {
  for (const Shape* shape : shapes) KASHI_RETURN_IF_ERROR(ValidateShapeWithOptionalLayout(*shape));
  return MakeTupleShapeWithPtrs(shapes);
}

Shape ShapeUtil::MakeMaybeTupleShape(absl::Span<const Shape> shapes) {
  return shapes.size() == 1 ? shapes[0] : MakeTupleShape(shapes);
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedMaybeTupleShape(absl::Span<const Shape> shapes) {
  if (shapes.size() != 1) return MakeValidatedTupleShape(shapes);
  KASHI_RETURN_IF_ERROR(ValidateShapeWithOptionalLayout(shapes[0]));
  return shapes[0];
}

Shape ShapeUtil::MakeOpaqueShape() { return Shape(OPAQUE_TYPE); }
Shape ShapeUtil::MakeTokenShape() { return Shape(TOKEN); }

absl::StatusOr<Shape> ShapeUtil::MakeValidatedBufferShape(Shape shape) {
  if (!shape.IsArrayExcludingBuffer()) {
    return InvalidArgument("Buffer shape must have array shape, got %s.", shape.ToString());
  }
  KASHI_RETURN_IF_ERROR(ValidateShapeWithOptionalLayout(shape));
  Shape buffer(BUFFER);
  *buffer.mutable_buffer_shape() = std::move(shape);
  return buffer;
}

absl::StatusOr<Shape> ShapeUtil::MakeValidatedBufferShape(PrimitiveType element_type,
                                                          absl::Span<const int64_t> dimensions) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, MakeValidatedShape(element_type, dimensions));
  return MakeValidatedBufferShape(std::move(shape));
}

ProgramShape ShapeUtil::MakeProgramShape(std::initializer_list<Shape> parameters, Shape result) {
  ProgramShape program_shape;
  for (const Shape& parameter : parameters) program_shape.AddParameter(parameter, "");
  *program_shape.mutable_result() = std::move(result);
  return program_shape;
}

absl::Status ShapeUtil::PopulateShape(PrimitiveType element_type, absl::Span<const int64_t> dimensions, Shape* shape) {
  shape->Clear();
  KASHI_ASSIGN_OR_RETURN(*shape, MakeValidatedShape(element_type, dimensions));
  return absl::OkStatus();
}

}  // namespace kashi
