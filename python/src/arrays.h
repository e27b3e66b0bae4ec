// NumPy arrays: their element types as primitive types, views of the arguments of a caller, and results.
//
// The functions hold the GIL. An ArrayView keeps its array alive, so that its memory may be read without the GIL.
#ifndef KASHI_PYTHON_SRC_ARRAYS_H_
#define KASHI_PYTHON_SRC_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "binding.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/shape.h"
#include "kashi/values/value.h"

namespace kashi::python {

// An array of NumPy's, native byte order.
struct ArrayView {
  nb::object array;  // a numpy.ndarray
  PrimitiveType type = PRIMITIVE_TYPE_INVALID;
  char* data = nullptr;
  DimensionVector dimensions;
  DimensionVector byte_strides;
  int64_t bytes = 0;           // of the elements
  bool is_contiguous = false;  // row-major, without gaps
  bool is_aligned = false;     // to its element type
};

// A view of `object`: an array, a scalar, a buffer, an object with __array_interface__, __array__ or __dlpack__. It is
// copied only if it is not in native byte order, or a list. TypeError for element types that XLA does not have.
ArrayView ViewOf(nb::handle object);
// A view of memory to write to: an ndarray, writeable, in native byte order, without two elements at one address;
// or any other writeable buffer. TypeError or ValueError for others; `name` is the argument's.
ArrayView WritableViewOf(nb::handle object, const char* name);
// The bytes of an object, in order: as ViewOf, but any element type. ValueError unless they are contiguous.
ArrayView BytesOf(nb::handle object, bool writable, const char* name);

// A text if the array is not one of this shape (its element type; its dimensions, up to the bounds); empty if it is.
std::string Misfit(const ArrayView& view, const Shape& shape, const std::string& place);

// ValueError if the memory of both overlaps.
void ThrowIfOverlapping(const ArrayView& a, const ArrayView& b);

// Uninitialised; large ones from the pool of pages (kashi/base/page_buffer.h). MemoryError if there is no memory.
nb::object NewArray(PrimitiveType type, absl::Span<const int64_t> dimensions, void** data);

// A kashi.Shape, or the shape of a text (ParseError). TypeError for others.
Shape ShapeOfArgument(nb::handle shape);
// The shape with the tiles that the TPU generation chooses for its arrays without tiles. ValueError for unknown names.
Shape ShapeForTarget(const Shape& shape, const std::string& target);
// An element type from XLA's name or from anything that NumPy takes for a dtype. TypeError or ValueError for others.
PrimitiveType ElementTypeOfArgument(nb::handle type);

// The type of numpy.dtype's instance; PRIMITIVE_TYPE_INVALID if XLA has none. Byte order does not count.
PrimitiveType TypeOfDtype(nb::handle dtype);
// The dtype; null for types without elements and types that ml_dtypes does not have.
nb::handle DtypeOf(PrimitiveType type);

// A value on the memory of the argument, or on a dense copy if it is not dense and aligned. TypeError or ValueError
// unless it fits the shape: element type, dimensions (up to the bounds); a sequence for a tuple; None for a token.
// `place` names the argument in messages.
Value ValueOfArgument(nb::handle argument, const Shape& shape, const std::string& place);

// The elements of an argument in row-major order, and the owner of their memory: the argument itself, or a dense copy.
struct DenseArgument {
  const void* data = nullptr;
  nb::object owner;
};
// For a static array; like ValueOfArgument otherwise, but without a value. For small programs, whose calls take less
// time than making a value.
DenseArgument DenseArgumentOf(nb::handle argument, const Shape& shape, size_t number);

// Arrays on the memory of the value, which only they hold then; copies of memory that has other owners. Tuples for
// tuples, None for tokens.
nb::object ArraysOf(Value value);
// A copy in any case.
nb::object CopiedArraysOf(const Value& value);

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_ARRAYS_H_
