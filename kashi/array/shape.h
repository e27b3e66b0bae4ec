// The type of a value: an array, a tuple of shapes, a token, an opaque value, or a buffer (one array behind a
// reference).
//
//   f32[2,<=3,?]{2,1,0}      array: element type, dimensions (static, bounded dynamic, unbounded dynamic), layout
//   (s32[], (pred[4]{0}))    tuple      token[]  opaque[]      b(f32[8]{0})  buffer
//
// The class has XLA's names, signatures and meanings (array-model.md, 2). An accessor dies if the shape does not have
// the part:
// the tuple elements of an array, the dimensions of a tuple. The array accessors of a buffer return the facts of its
// array. ParseShape (shape_parser.h) reads text; ShapeUtil (shape_util.h) has all other functions.
#ifndef KASHI_ARRAY_SHAPE_H_
#define KASHI_ARRAY_SHAPE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/array/dimension_vector.h"
#include "kashi/array/layout.h"
#include "kashi/array/primitive_type.h"
#include "kashi/base/printer.h"

namespace kashi {

class ShapeProto;
class ProgramShapeProto;

class Shape {
 public:
  // The size of an unbounded dynamic dimension, printed `?`.
  static constexpr int64_t kUnboundedSize = std::numeric_limits<int64_t>::min();

  // PRIMITIVE_TYPE_INVALID.
  Shape();
  Shape(const Shape& other);
  Shape(Shape&& other) noexcept;
  ~Shape();
  Shape& operator=(const Shape& other);
  Shape& operator=(Shape&& other) noexcept;

  // A token, an opaque value, or a buffer without its array yet; dies for other types.
  explicit Shape(PrimitiveType element_type);
  // An array without a layout. `dynamic_dimensions` is empty (all static) or has a flag for each dimension.
  Shape(PrimitiveType element_type, absl::Span<const int64_t> dimensions,
        absl::Span<const bool> dynamic_dimensions = {});
  // A tuple.
  explicit Shape(std::vector<Shape> tuple_shapes);

  // Errors of array-model.md, 3.4; otherwise the shape is not validated. (kashi/proto)
  static absl::StatusOr<Shape> FromProto(const ShapeProto& proto);
  ShapeProto ToProto() const;
  void SetProto(ShapeProto& proto) const;

  void Print(Printer* printer, bool print_layout = false) const;
  std::string ToString(bool print_layout = false) const;

  // Kind. IsArray is true for buffers too.
  bool IsArray() const { return array_state() != nullptr; }
  bool IsArrayExcludingBuffer() const { return std::holds_alternative<ArrayState>(state_); }
  bool IsTuple() const { return element_type_ == TUPLE; }
  bool IsBuffer() const { return element_type_ == BUFFER; }
  bool IsToken() const { return element_type_ == TOKEN; }
  bool IsOpaque() const { return element_type_ == OPAQUE_TYPE; }
  // True if all leaves of the tuple tree are arrays of integers; PRED is not an integer.
  bool AreAllLeavesIntegers() const;

  // Dynamism; of a tuple: of any leaf.
  bool is_static() const;
  bool is_dynamic() const { return !is_static(); }
  bool is_unbounded_dynamic() const;
  bool is_bounded_dynamic() const;
  bool is_dynamic_dimension(int dimension) const { return array().dynamic_dimensions[dimension]; }
  bool is_static_dimension(int dimension) const { return !is_dynamic_dimension(dimension); }
  bool is_unbounded_dynamic_dimension(int dimension) const {
    return dimensions(dimension) == kUnboundedSize && is_dynamic_dimension(dimension);
  }
  bool is_bounded_dynamic_dimension(int dimension) const {
    return is_dynamic_dimension(dimension) && dimensions(dimension) != kUnboundedSize;
  }
  void set_dynamic_dimension(int dimension, bool is_dynamic) { array().dynamic_dimensions[dimension] = is_dynamic; }
  void set_unbounded_dynamic_dimension(int dimension) {
    array().dynamic_dimensions[dimension] = true;
    array().dimensions[dimension] = kUnboundedSize;
  }
  absl::Span<const bool> dynamic_dimensions() const { return array().dynamic_dimensions; }
  // Recursive; sizes stay, and so bounds become sizes.
  void clear_dynamic_dimensions();
  // size >= 0, or a dynamic kUnboundedSize.
  static bool IsValidDimensionSize(int64_t size, bool is_dynamic);

  // Dimensions of an array.
  absl::Span<const int64_t> dimensions() const { return array().dimensions; }
  int64_t dimensions(int dimension) const { return array().dimensions[dimension]; }
  int dimensions_size() const { return static_cast<int>(array().dimensions.size()); }
  int64_t rank() const { return dimensions_size(); }
  // The size of the dimension at a position in minor_to_major; needs a layout.
  int64_t dimensions_minor(int position) const { return dimensions(layout().minor_to_major(position)); }
  void set_dimensions(int dimension, int64_t size, std::optional<bool> is_dynamic = std::nullopt);
  void set_dimensions_minor(int position, int64_t size, std::optional<bool> is_dynamic = std::nullopt) {
    set_dimensions(layout().minor_to_major(position), size, is_dynamic);
  }
  // Dies on an invalid size. The layout stays as it is.
  void add_dimensions(int64_t size, bool is_dynamic = false);
  void clear_dimensions();
  // The layout is adjusted. The list may be in any order, without repetition.
  void DeleteDimension(int64_t dimension);
  void DeleteDimensions(absl::Span<const int64_t> dimensions);

  // For a buffer: the element type of its array.
  PrimitiveType element_type() const { return IsBuffer() ? buffer_shape().element_type() : element_type_; }
  PrimitiveType element_type_including_buffer() const { return element_type_; }
  // Dies if the kind would change and the shape has contents that would be lost.
  void set_element_type(PrimitiveType type);

  // Elements of a tuple.
  const std::vector<Shape>& tuple_shapes() const { return tuple().shapes; }
  const Shape& tuple_shapes(int i) const { return tuple().shapes[i]; }
  int tuple_shapes_size() const { return static_cast<int>(tuple().shapes.size()); }
  Shape* mutable_tuple_shapes(int i) { return &tuple().shapes[i]; }
  std::vector<Shape>* mutable_tuple_shapes() { return &tuple().shapes; }
  Shape* add_tuple_shapes();
  void clear_tuple_shapes() { tuple().shapes.clear(); }

  // The array of a buffer.
  const Shape& buffer_shape() const;
  Shape* mutable_buffer_shape();

  // Layout of an array.
  bool has_layout() const;
  const Layout& layout() const;  // dies if there is none
  Layout* mutable_layout();      // makes an empty one if there is none
  void clear_layout();

  void Clear() { *this = Shape(); }

  // Comparison with options: Shape::Equal().IgnoreLayout()(a, b). See array-model.md, 2.5.
  class Equal {
   public:
    bool operator()(const Shape& lhs, const Shape& rhs) const;
    Equal& IgnoreLayout(bool ignore = true) { return Set(&ignore_layout_, ignore); }
    Equal& IgnoreTilesInLayout(bool ignore = true) { return Set(&ignore_tiles_, ignore); }
    Equal& IgnoreElementSizeInLayout(bool ignore = true) { return Set(&ignore_element_size_, ignore); }
    Equal& IgnoreMemorySpaceInLayout(bool ignore = true) { return Set(&ignore_memory_space_, ignore); }
    Equal& IgnoreTailPaddingAlignmentInElements(bool ignore = true) { return Set(&ignore_tail_padding_, ignore); }
    Equal& IgnoreSplitConfigInLayout(bool ignore = true) { return Set(&ignore_split_config_, ignore); }
    Equal& MinorToMajorOnlyInLayout(bool only = true) { return Set(&minor_to_major_only_, only); }
    Equal& IgnoreElementType(bool ignore = true) { return Set(&ignore_element_type_, ignore); }
    Equal& IgnoreFpPrecision(bool ignore = true) { return Set(&ignore_fp_precision_, ignore); }
    // Also lets an unbounded dimension match any size.
    Equal& IgnoreDynamicDimension(bool ignore = true) { return Set(&ignore_dynamic_dimension_, ignore); }
    // The rank still counts.
    Equal& IgnoreDimensions(bool ignore = true) { return Set(&ignore_dimensions_, ignore); }
    // A buffer equals its array.
    Equal& IgnoreBuffer(bool ignore = true) { return Set(&ignore_buffer_, ignore); }

   private:
    Equal& Set(bool* option, bool value) {
      *option = value;
      return *this;
    }
    bool ArraysEqual(const Shape& lhs, const Shape& rhs) const;
    bool LayoutsEqual(const Shape& lhs, const Shape& rhs) const;

    bool ignore_layout_ = false;
    bool ignore_tiles_ = false;
    bool ignore_element_size_ = false;
    bool ignore_memory_space_ = false;
    bool ignore_tail_padding_ = false;
    bool ignore_split_config_ = false;
    bool minor_to_major_only_ = false;
    bool ignore_element_type_ = false;
    bool ignore_fp_precision_ = false;
    bool ignore_dynamic_dimension_ = false;
    bool ignore_dimensions_ = false;
    bool ignore_buffer_ = false;
  };
  bool operator==(const Shape& other) const { return Equal()(*this, other); }
  bool operator!=(const Shape& other) const { return !(*this == other); }

  template <typename H, bool kIsLayoutSensitive = true>
  static H Hash(H h, const Shape& s) {
    if (s.IsTuple()) {
      for (const Shape& element : s.tuple_shapes()) h = Hash<H, kIsLayoutSensitive>(std::move(h), element);
      h = H::combine(std::move(h), s.tuple_shapes_size());
    } else if (const ArrayState* array = s.array_state()) {
      h = H::combine(std::move(h), s.element_type(), array->dimensions, array->dynamic_dimensions);
      const bool has_layout = kIsLayoutSensitive && array->layout.has_value();
      if (has_layout) h = H::combine(std::move(h), *array->layout);
      h = H::combine(std::move(h), has_layout);
    }
    // Last, so that no kind's values are the end of another's.
    return H::combine(std::move(h), s.element_type_, s.state_.index());
  }
  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return Shape::Hash(std::move(h), s);
  }

 private:
  // Token, opaque, invalid, and a buffer that has no array yet.
  struct NoState {};
  struct ArrayState {
    DimensionVector dimensions;
    absl::InlinedVector<bool, InlineRank()> dynamic_dimensions;  // as long as `dimensions`
    std::optional<Layout> layout;
  };
  struct TupleState {
    std::vector<Shape> shapes;
  };
  struct BufferState {
    std::unique_ptr<Shape> shape;  // an array, not a buffer
    BufferState() = default;
    BufferState(const BufferState& other);
    BufferState(BufferState&&) noexcept = default;
    BufferState& operator=(const BufferState& other);
    BufferState& operator=(BufferState&&) noexcept = default;
  };

  // The array of an array shape or of a buffer; null for every other kind.
  const ArrayState* array_state() const;
  const ArrayState& array() const;
  ArrayState& array() { return const_cast<ArrayState&>(static_cast<const Shape*>(this)->array()); }
  const TupleState& tuple() const;
  TupleState& tuple() { return const_cast<TupleState&>(static_cast<const Shape*>(this)->tuple()); }
  void PrintArray(Printer* printer, bool print_layout) const;

  PrimitiveType element_type_ = PRIMITIVE_TYPE_INVALID;
  std::variant<NoState, ArrayState, TupleState, BufferState> state_;  // agrees with element_type_
};
std::ostream& operator<<(std::ostream& out, const Shape& shape);  // with layout

// The parameters and the result of a computation: `(x: f32[2], (unknown): s32[]) -> f32[]`.
class ProgramShape {
 public:
  ProgramShape();
  ~ProgramShape();
  ProgramShape(const ProgramShape&);
  ProgramShape(ProgramShape&&) noexcept;
  ProgramShape& operator=(const ProgramShape&);
  ProgramShape& operator=(ProgramShape&&) noexcept;

  // INTERNAL if the counts of names and parameters differ. (kashi/proto)
  static absl::StatusOr<ProgramShape> FromProto(const ProgramShapeProto& proto);
  ProgramShapeProto ToProto() const;

  void Print(Printer* printer) const;  // never with layouts; a parameter without a name is "(unknown)"
  std::string ToString() const;

  const std::vector<Shape>& parameters() const { return parameters_; }
  const Shape& parameters(int i) const { return parameters_[i]; }
  int parameters_size() const { return static_cast<int>(parameters_.size()); }
  Shape* mutable_parameters(int i) { return &parameters_[i]; }
  void AddParameter(Shape shape, std::string name);
  void clear_parameters();

  const Shape& result() const { return result_; }
  Shape* mutable_result() { return &result_; }

  const std::vector<std::string>& parameter_names() const { return parameter_names_; }
  const std::string& parameter_names(int i) const { return parameter_names_[i]; }
  void set_parameter_names(int i, const std::string& name) { parameter_names_[i] = name; }
  void clear_parameter_names();  // empties each name

 private:
  std::vector<Shape> parameters_;
  std::vector<std::string> parameter_names_;  // as long as parameters_
  Shape result_;
};
std::ostream& operator<<(std::ostream& out, const ProgramShape& shape);  // with a newline behind

}  // namespace kashi

#endif  // KASHI_ARRAY_SHAPE_H_
