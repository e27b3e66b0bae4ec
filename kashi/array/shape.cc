#include "kashi/array/shape.h"

#include <algorithm>
#include <functional>

#include "kashi/array/primitive_util.h"
#include "kashi/base/check.h"

namespace kashi {

Shape::Shape() = default;
Shape::Shape(const Shape& other) = default;
Shape::Shape(Shape&& other) noexcept = default;
Shape::~Shape() = default;
Shape& Shape::operator=(const Shape& other) = default;
Shape& Shape::operator=(Shape&& other) noexcept = default;

Shape::BufferState::BufferState(const BufferState& other)
    : shape(other.shape ? std::make_unique<Shape>(*other.shape) : nullptr) {}
Shape::BufferState& Shape::BufferState::operator=(const BufferState& other) {
  if (this != &other) *this = BufferState(other);
  return *this;
}

Shape::Shape(PrimitiveType element_type) : element_type_(element_type) {
  KASHI_CHECK(element_type == TOKEN || element_type == OPAQUE_TYPE || element_type == BUFFER)
      << "invalid element type for a shape without dimensions: " << PrimitiveType_Name(element_type);
  if (element_type == BUFFER) state_ = BufferState();
}

Shape::Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
             absl::Span<const bool> dynamic_dimensions)
    : element_type_(element_type) {
  KASHI_CHECK(primitive_util::IsArrayType(element_type))
      << "invalid element type for an array shape: " << PrimitiveType_Name(element_type);
  KASHI_CHECK(dynamic_dimensions.empty() || dynamic_dimensions.size() == dimensions.size());
  ArrayState& array = state_.emplace<ArrayState>();
  array.dimensions.assign(dimensions.begin(), dimensions.end());
  if (dynamic_dimensions.empty()) {
    array.dynamic_dimensions.assign(dimensions.size(), false);
  } else {
    array.dynamic_dimensions.assign(dynamic_dimensions.begin(), dynamic_dimensions.end());
  }
}

Shape::Shape(std::vector<Shape> tuple_shapes) : element_type_(TUPLE), state_(TupleState{std::move(tuple_shapes)}) {}

const Shape::ArrayState* Shape::array_state() const {
  if (const auto* array = std::get_if<ArrayState>(&state_)) return array;
  const auto* buffer = std::get_if<BufferState>(&state_);
  if (buffer == nullptr || buffer->shape == nullptr) return nullptr;
  return std::get_if<ArrayState>(&buffer->shape->state_);
}

const Shape::ArrayState& Shape::array() const {
  const ArrayState* array = array_state();
  KASHI_CHECK(array != nullptr) << "not an array shape: " << ToString();
  return *array;
}

const Shape::TupleState& Shape::tuple() const {
  const auto* tuple = std::get_if<TupleState>(&state_);
  KASHI_CHECK(tuple != nullptr) << "not a tuple shape: " << ToString();
  return *tuple;
}

void Shape::PrintArray(Printer* printer, bool print_layout) const {
  const ArrayState* array = array_state();
  AppendCat(printer, primitive_util::LowercasePrimitiveTypeName(element_type()), "[");
  if (array != nullptr) {
    for (int i = 0; i < dimensions_size(); ++i) {
      if (i > 0) printer->Append(",");
      if (is_unbounded_dynamic_dimension(i)) {
        printer->Append("?");
      } else {
        if (is_dynamic_dimension(i)) printer->Append("<=");
        printer->Append(dimensions(i));
      }
    }
  }
  printer->Append("]");
  if (!print_layout || array == nullptr || !array->layout.has_value()) return;
  std::string layout = array->layout->ToString();
  if (!array->dimensions.empty() || layout != "{}") printer->Append(layout);
}

void Shape::Print(Printer* printer, bool print_layout) const {
  if (IsTuple()) {
    printer->Append("(");
    for (int i = 0; i < tuple_shapes_size(); ++i) {
      if (i > 0 && i % 5 == 0) {
        AppendCat(printer, ", /*index=", i, "*/");
      } else if (i > 0) {
        printer->Append(", ");
      }
      tuple_shapes(i).Print(printer, print_layout);
    }
    printer->Append(")");
  } else if (IsBuffer()) {
    printer->Append("b(");
    if (const auto& shape = std::get<BufferState>(state_).shape) shape->Print(printer, print_layout);
    printer->Append(")");
  } else {
    PrintArray(printer, print_layout);
  }
}

std::string Shape::ToString(bool print_layout) const {
  StringPrinter printer;
  Print(&printer, print_layout);
  return std::move(printer).ToString();
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.ToString(/*print_layout=*/true); }

bool Shape::AreAllLeavesIntegers() const {
  if (!IsTuple()) return primitive_util::IsIntegralType(element_type());
  return std::all_of(tuple_shapes().begin(), tuple_shapes().end(),
                     [](const Shape& shape) { return shape.AreAllLeavesIntegers(); });
}

bool Shape::is_static() const {
  if (IsTuple()) {
    return std::all_of(tuple_shapes().begin(), tuple_shapes().end(),
                       [](const Shape& shape) { return shape.is_static(); });
  }
  const ArrayState* array = array_state();
  return array == nullptr ||
         std::none_of(array->dynamic_dimensions.begin(), array->dynamic_dimensions.end(), [](bool b) { return b; });
}

bool Shape::is_unbounded_dynamic() const {
  if (IsTuple()) {
    return std::any_of(tuple_shapes().begin(), tuple_shapes().end(),
                       [](const Shape& shape) { return shape.is_unbounded_dynamic(); });
  }
  if (!IsArray()) return false;
  for (int i = 0; i < dimensions_size(); ++i) {
    if (is_unbounded_dynamic_dimension(i)) return true;
  }
  return false;
}

bool Shape::is_bounded_dynamic() const {
  if (IsTuple()) {
    return std::any_of(tuple_shapes().begin(), tuple_shapes().end(),
                       [](const Shape& shape) { return shape.is_bounded_dynamic(); });
  }
  if (!IsArray()) return false;
  for (int i = 0; i < dimensions_size(); ++i) {
    if (is_bounded_dynamic_dimension(i)) return true;
  }
  return false;
}

void Shape::clear_dynamic_dimensions() {
  if (IsTuple()) {
    for (Shape& shape : *mutable_tuple_shapes()) shape.clear_dynamic_dimensions();
    return;
  }
  if (!IsArray()) return;
  if (is_dynamic()) mutable_layout()->set_dynamic_shape_metadata_prefix_bytes(0);
  std::fill(array().dynamic_dimensions.begin(), array().dynamic_dimensions.end(), false);
}

bool Shape::IsValidDimensionSize(int64_t size, bool is_dynamic) {
  return size >= 0 || (is_dynamic && size == kUnboundedSize);
}

void Shape::set_dimensions(int dimension, int64_t size, std::optional<bool> is_dynamic) {
  const bool dynamic = is_dynamic.value_or(array().dynamic_dimensions[dimension]);
  KASHI_CHECK(IsValidDimensionSize(size, dynamic)) << "size " << size << " of dimension " << dimension;
  array().dimensions[dimension] = size;
  array().dynamic_dimensions[dimension] = dynamic;
}

void Shape::add_dimensions(int64_t size, bool is_dynamic) {
  KASHI_CHECK(IsValidDimensionSize(size, is_dynamic)) << "size " << size;
  array().dimensions.push_back(size);
  array().dynamic_dimensions.push_back(is_dynamic);
}

void Shape::clear_dimensions() {
  array().dimensions.clear();
  array().dynamic_dimensions.clear();
}

void Shape::DeleteDimension(int64_t dimension) {
  ArrayState& state = array();
  KASHI_CHECK(dimension >= 0 && dimension < dimensions_size()) << "no dimension " << dimension << " in " << ToString();
  state.dimensions.erase(state.dimensions.begin() + dimension);
  state.dynamic_dimensions.erase(state.dynamic_dimensions.begin() + dimension);
  if (state.layout.has_value()) state.layout->DeleteDimension(static_cast<int>(dimension));
}

void Shape::DeleteDimensions(absl::Span<const int64_t> dimensions) {
  std::vector<int64_t> sorted(dimensions.begin(), dimensions.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<int64_t>());
  for (int64_t dimension : sorted) DeleteDimension(dimension);
}

void Shape::set_element_type(PrimitiveType type) {
  if (IsBuffer() && primitive_util::IsArrayType(type) && IsArray()) {
    mutable_buffer_shape()->set_element_type(type);
    return;
  }
  const bool keeps_array = IsArrayExcludingBuffer() && primitive_util::IsArrayType(type);
  if (!keeps_array && type != element_type_) {
    const auto* array = std::get_if<ArrayState>(&state_);
    const auto* tuple = std::get_if<TupleState>(&state_);
    const auto* buffer = std::get_if<BufferState>(&state_);
    const bool is_empty = (array == nullptr || (array->dimensions.empty() && !array->layout.has_value())) &&
                          (tuple == nullptr || tuple->shapes.empty()) &&
                          (buffer == nullptr || buffer->shape == nullptr);
    KASHI_CHECK(is_empty) << "cannot turn " << ToString() << " into " << PrimitiveType_Name(type);
    if (primitive_util::IsArrayType(type)) {
      state_ = ArrayState();
    } else if (type == TUPLE) {
      state_ = TupleState();
    } else if (type == BUFFER) {
      state_ = BufferState();
    } else {
      state_ = NoState();
    }
  }
  element_type_ = type;
}

Shape* Shape::add_tuple_shapes() {
  tuple().shapes.emplace_back();
  return &tuple().shapes.back();
}

const Shape& Shape::buffer_shape() const {
  const auto* buffer = std::get_if<BufferState>(&state_);
  KASHI_CHECK(buffer != nullptr && buffer->shape != nullptr) << "not a buffer shape: " << ToString();
  return *buffer->shape;
}

Shape* Shape::mutable_buffer_shape() {
  auto* buffer = std::get_if<BufferState>(&state_);
  KASHI_CHECK(buffer != nullptr) << "not a buffer shape: " << ToString();
  if (buffer->shape == nullptr) buffer->shape = std::make_unique<Shape>();
  return buffer->shape.get();
}

bool Shape::has_layout() const {
  const ArrayState* array = array_state();
  return array != nullptr && array->layout.has_value();
}

const Layout& Shape::layout() const {
  KASHI_CHECK(has_layout()) << "no layout: " << ToString();
  return *array().layout;
}

Layout* Shape::mutable_layout() {
  if (!array().layout.has_value()) array().layout.emplace();
  return &*array().layout;
}

void Shape::clear_layout() {
  if (IsArray()) array().layout.reset();
}

bool Shape::Equal::operator()(const Shape& lhs, const Shape& rhs) const {
  if (ignore_buffer_ && lhs.IsBuffer() != rhs.IsBuffer()) {
    return lhs.IsBuffer() ? (*this)(lhs.buffer_shape(), rhs) : (*this)(lhs, rhs.buffer_shape());
  }
  if (lhs.IsBuffer() || rhs.IsBuffer()) {
    if (!lhs.IsBuffer() || !rhs.IsBuffer() || lhs.IsArray() != rhs.IsArray()) return false;
    return !lhs.IsArray() || ArraysEqual(lhs, rhs);
  }
  if (lhs.IsTuple() && rhs.IsTuple()) {
    return std::equal(lhs.tuple_shapes().begin(), lhs.tuple_shapes().end(), rhs.tuple_shapes().begin(),
                      rhs.tuple_shapes().end(), *this);
  }
  if (!lhs.IsArray() || !rhs.IsArray()) return lhs.element_type() == rhs.element_type();
  return ArraysEqual(lhs, rhs);
}

bool Shape::Equal::ArraysEqual(const Shape& lhs, const Shape& rhs) const {
  if (!ignore_element_type_) {
    const PrimitiveType a = lhs.element_type(), b = rhs.element_type();
    const bool same_but_for_precision =
        ignore_fp_precision_ && primitive_util::IsFloatingPointType(a) && primitive_util::IsFloatingPointType(b);
    if (a != b && !same_but_for_precision) return false;
  }
  if (lhs.dimensions_size() != rhs.dimensions_size()) return false;
  for (int i = 0; i < lhs.dimensions_size(); ++i) {
    const bool any_size =
        ignore_dynamic_dimension_ && (lhs.is_unbounded_dynamic_dimension(i) || rhs.is_unbounded_dynamic_dimension(i));
    if (!ignore_dimensions_ && !any_size && lhs.dimensions(i) != rhs.dimensions(i)) return false;
    if (!ignore_dynamic_dimension_ && lhs.is_dynamic_dimension(i) != rhs.is_dynamic_dimension(i)) return false;
  }
  return ignore_layout_ || LayoutsEqual(lhs, rhs);
}

bool Shape::Equal::LayoutsEqual(const Shape& lhs, const Shape& rhs) const {
  if (lhs.has_layout() != rhs.has_layout()) return false;
  if (!lhs.has_layout()) return true;
  Layout::Equal equal;
  equal.IgnoreTiles(ignore_tiles_)
      .IgnoreElementSize(ignore_element_size_)
      .IgnoreMemorySpace(ignore_memory_space_)
      .IgnoreTailPaddingAlignmentInElements(ignore_tail_padding_)
      .IgnoreSplitConfigs(ignore_split_config_);
  if (minor_to_major_only_) equal.MinorToMajorOnly();
  return equal(lhs.layout(), rhs.layout());
}

ProgramShape::ProgramShape() = default;
ProgramShape::~ProgramShape() = default;
ProgramShape::ProgramShape(const ProgramShape&) = default;
ProgramShape::ProgramShape(ProgramShape&&) noexcept = default;
ProgramShape& ProgramShape::operator=(const ProgramShape&) = default;
ProgramShape& ProgramShape::operator=(ProgramShape&&) noexcept = default;

void ProgramShape::AddParameter(Shape shape, std::string name) {
  parameters_.push_back(std::move(shape));
  parameter_names_.push_back(std::move(name));
}

void ProgramShape::clear_parameters() {
  parameters_.clear();
  parameter_names_.clear();
}

void ProgramShape::clear_parameter_names() { std::fill(parameter_names_.begin(), parameter_names_.end(), ""); }

void ProgramShape::Print(Printer* printer) const {
  printer->Append("(");
  for (int i = 0; i < parameters_size(); ++i) {
    AppendCat(printer, i > 0 ? ", " : "", parameter_names(i).empty() ? "(unknown)" : parameter_names(i), ": ");
    parameters(i).Print(printer, /*print_layout=*/false);
  }
  printer->Append(") -> ");
  result_.Print(printer, /*print_layout=*/false);
}

std::string ProgramShape::ToString() const {
  StringPrinter printer;
  Print(&printer);
  return std::move(printer).ToString();
}

std::ostream& operator<<(std::ostream& out, const ProgramShape& shape) { return out << shape.ToString() << "\n"; }

}  // namespace kashi
