// ShapeUtil: questions about shapes, and their text.

#include <algorithm>

#include "kashi/array/shape_util.h"
#include "kashi/base/check.h"

namespace kashi {
namespace {

// True if the layout has nothing that a device may add to a host's layout; split configs are not among these additions.
bool LayoutIsHostLayout(const Layout& layout) {
  return layout.tiles_size() == 0 && layout.memory_space() == Layout::kDefaultMemorySpace &&
         !layout.has_physical_shape() && layout.element_size_in_bits() == 0 &&
         layout.tail_padding_alignment_in_elements() == 1 && layout.dynamic_shape_metadata_prefix_bytes() == 0;
}

void MakeHostLayout(Layout* layout) {
  layout->clear_tiles();
  layout->set_memory_space(Layout::kDefaultMemorySpace);
  layout->clear_physical_shape();
  layout->set_element_size_in_bits(0);
  layout->set_tail_padding_alignment_in_elements(1);
  layout->set_dynamic_shape_metadata_prefix_bytes(0);
}

}  // namespace

bool ShapeUtil::IsScalarWithElementType(const Shape& shape, PrimitiveType element_type) {
  return IsScalar(shape) && shape.element_type() == element_type;
}

int64_t ShapeUtil::TrueNumDimensions(const Shape& shape) {
  const auto sizes = shape.dimensions();
  return static_cast<int64_t>(sizes.size()) - std::count(sizes.begin(), sizes.end(), 1);
}

bool ShapeUtil::IsZeroElementArray(const Shape& shape) {
  if (!shape.IsArray()) return false;
  const auto sizes = shape.dimensions();
  return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
}

bool ShapeUtil::HasDegenerateDimensions(const Shape& shape) {
  const auto sizes = shape.dimensions();
  return std::find(sizes.begin(), sizes.end(), 1) != sizes.end();
}

bool ShapeUtil::HasPrimitiveType(const Shape& shape, PrimitiveType primitive_type) {
  if (shape.element_type_including_buffer() == primitive_type) return true;
  if (shape.IsArray()) return shape.element_type() == primitive_type;
  if (!shape.IsTuple()) return false;
  for (const Shape& element : shape.tuple_shapes()) {
    if (HasPrimitiveType(element, primitive_type)) return true;
  }
  return false;
}

bool ShapeUtil::ElementIsIntegral(const Shape& shape) { return primitive_util::IsIntegralType(shape.element_type()); }

bool ShapeUtil::ElementIsFloating(const Shape& shape) {
  return primitive_util::IsFloatingPointType(shape.element_type());
}

bool ShapeUtil::ElementIsComplex(const Shape& shape) { return primitive_util::IsComplexType(shape.element_type()); }

bool ShapeUtil::ElementIsSigned(const Shape& shape) {
  return primitive_util::IsSignedIntegralType(shape.element_type()) || ElementIsFloating(shape);
}

bool ShapeUtil::ElementHasBitWidth(const Shape& shape, int bits) {
  return shape.IsArray() && primitive_util::BitWidth(shape.element_type()) == bits;
}

bool ShapeUtil::ElementIsIntegralWithBits(const Shape& shape, int bits) {
  return ElementIsIntegral(shape) && ElementHasBitWidth(shape, bits);
}

bool ShapeUtil::ElementCanUpcast(const Shape& from, const Shape& to) {
  return ElementIsFloating(from) == ElementIsFloating(to) && ElementIsSigned(from) == ElementIsSigned(to) &&
         HigherPrecisionElementType(from, to) == to.element_type();
}

bool ShapeUtil::IsInitialized(const Shape& shape) {
  return shape.element_type_including_buffer() != PRIMITIVE_TYPE_INVALID;
}

bool ShapeUtil::LastDimIsMinorMost(const Shape& shape) {
  return shape.rank() > 0 && shape.layout().minor_to_major(0) == shape.rank() - 1;
}

bool ShapeUtil::IsEffectivelyMostMajorDimension(const Shape& shape, int64_t dimension) {
  for (int64_t physical = 0; physical < shape.rank(); ++physical) {
    const int64_t major = LayoutUtil::Major(shape.layout(), physical);
    if (major == dimension) return true;
    if (shape.dimensions(static_cast<int>(major)) != 1) return false;
  }
  return false;
}

int64_t ShapeUtil::GetDimension(const Shape& shape, int64_t dimension_number) {
  const int64_t dimension = GetDimensionNumber(shape, dimension_number);
  KASHI_CHECK_LT(dimension, shape.rank());  // XLA reads behind the end here
  return shape.dimensions(static_cast<int>(dimension));
}

int64_t ShapeUtil::GetDimensionNumber(const Shape& shape, int64_t dimension_number) {
  if (dimension_number < 0) dimension_number += shape.rank();
  KASHI_CHECK_GE(dimension_number, 0);
  return dimension_number;
}

DimensionVector ShapeUtil::CreateDimensionVectorFromShape(const Shape& shape) {
  if (!shape.IsArray()) return {};
  return DimensionVector(shape.dimensions().begin(), shape.dimensions().end());
}

absl::StatusOr<int64_t> ShapeUtil::PackedFactorFor1DInterleavedArray(const Shape& shape) {
  if (shape.has_layout() && shape.rank() == 1 && shape.layout().tiles_size() == 3 &&
      shape.layout().tiles(2).dimensions().size() == 2) {
    return shape.layout().tiles(2).dimension(0);
  }
  return InvalidArgument("Shape %s is not a 1D interleaved array.", shape.ToString(/*print_layout=*/true));
}

bool ShapeUtil::DeviceShapeIsHostShape(const Shape& shape) {
  bool is_host_shape = true;
  ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) {
    is_host_shape = is_host_shape && (!leaf.has_layout() || LayoutIsHostLayout(leaf.layout()));
  });
  return is_host_shape;
}

Shape ShapeUtil::DeviceShapeToHostShape(Shape shape) {
  ForEachMutableLeafShape(&shape, [](Shape* leaf, const ShapeIndex&) {
    if (leaf->has_layout()) MakeHostLayout(leaf->mutable_layout());
  });
  return shape;
}

std::string ShapeUtil::HumanString(const Shape& shape) { return shape.ToString(/*print_layout=*/false); }
std::string ShapeUtil::HumanStringWithLayout(const Shape& shape) { return shape.ToString(/*print_layout=*/true); }
std::string ShapeUtil::HumanString(const ProgramShape& program_shape) { return program_shape.ToString(); }

void ShapeUtil::PrintHumanString(Printer* printer, const Shape& shape) { shape.Print(printer, /*print_layout=*/false); }
void ShapeUtil::PrintHumanStringWithLayout(Printer* printer, const Shape& shape) {
  shape.Print(printer, /*print_layout=*/true);
}
void ShapeUtil::PrintHumanString(Printer* printer, const ProgramShape& program_shape) { program_shape.Print(printer); }

}  // namespace kashi
