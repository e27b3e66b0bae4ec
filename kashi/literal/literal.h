// Literal: the value of an array, a token, or a tuple of values, in host memory. The classes, names and meanings are
// XLA's.
//
//   LiteralBase                    reading; abstract
//     MutableLiteralBase           writing
//       Literal                    owns its memory; moves, is not copied (Clone())
//       MutableBorrowingLiteral    writes into borrowed memory
//     LiteralSlice                 a view of a literal or of an element of it
//     BorrowingLiteral             a view of raw memory
//
//   Literal literal(ShapeUtil::MakeShape(F32, {2, 3}));
//   literal.PopulateR2<float>({{1, 2, 3}, {4, 5, 6}});
//   literal.Get<float>({1, 0})                        // 4
//   literal.Convert(S8).value().ToStringOneline()     // "s8[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }"
//
// A literal is a tree of pieces along its tuple shape. A leaf that is an array has its elements in the physical order
// of its layout: minor_to_major counts, tiles stay in the shape but are not applied, every element takes the whole
// bytes of its native type (an s4 takes one byte, also with E(4)). Memory is aligned to 64 bytes; up to 24 bytes are
// stored in the piece itself. A leaf is known (has elements), unknown, or undetermined; the latter two have no memory.
//
// Dynamic dimensions: memory is laid out for the bound. The literal also has the current size of each dimension, which
// is the bound at first. "Valid elements" are those below the current sizes.
//
// "Dies" means a KASHI_CHECK. A wrong shape index, a wrong native type, and access to a leaf without memory die.
// Reading is thread-safe, writing is not. The cost of an operation is proportional to the elements that it touches.
//
// The implementation is split by topic: literal.cc (memory, moves), literal_access.cc (single elements),
// literal_query.cc (comparing, IsAll...), literal_copy.cc (copies, new layouts and shapes), literal_convert.cc (element
// types), literal_text.cc (ToString and friends); protos and serialization in kashi/proto.
#ifndef KASHI_LITERAL_LITERAL_H_
#define KASHI_LITERAL_LITERAL_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/layout.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_index.h"
#include "kashi/array/shape_tree.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"
#include "kashi/base/parallel.h"
#include "kashi/base/printer.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_piece.h"
#include "kashi/literal/strided_walk.h"

namespace tsl {
namespace core {
class Bitmap;
}  // namespace core
}  // namespace tsl

namespace kashi {

class Literal;
class LiteralProto;
class LiteralSlice;
template <typename T>
class Array;
template <typename T>
class Array2D;
template <typename T>
class Array3D;
template <typename T>
class Array4D;

class LiteralBase {
 public:
  using DynamicSizeType = ShapeUtil::DynamicSizeType;
  using ArrayValueState = literal::ArrayValueState;  // kKnown, kUnknown, kUndetermined

  // ------------------------------------------------------------------------------------------------ shape and memory

  const Shape& shape() const { return root_->subshape(); }

  // The elements of an array in storage order. Dies unless NativeT is exactly the element type's.
  template <typename NativeT>
  absl::Span<const NativeT> data(const ShapeIndex& shape_index = {}) const {
    return piece(shape_index).data<NativeT>();
  }
  // Memory of an array leaf. Dies for tuples, and for leaves without memory.
  const void* untyped_data(const ShapeIndex& shape_index = {}) const { return piece(shape_index).memory(); }
  // Bytes there: elements (of the bounds) times the bytes of the native type. 0 for a token or an opaque value; dies
  // for a tuple.
  int64_t size_bytes(const ShapeIndex& shape_index = {}) const { return piece(shape_index).size_bytes(); }
  // The number of elements of the bounds; 0 if the subshape is not an array.
  int64_t element_count(const ShapeIndex& shape_index = {}) const { return piece(shape_index).element_count(); }

  // The current size of a dimension; of a static one its size.
  DynamicSizeType GetDynamicSize(int64_t dim_index, const ShapeIndex& shape_index) const;
  DynamicSizeType GetDynamicSize(int64_t dim_index) const;

  // All array leaves below are known; none is undetermined.
  bool IsKnown(const ShapeIndex& shape_index = {}) const;
  bool IsDetermined(const ShapeIndex& shape_index = {}) const;

  // --------------------------------------------------------------------------- single elements (literal_access.cc)

  template <typename NativeT>
  NativeT Get(absl::Span<const int64_t> multi_index, const ShapeIndex& shape_index) const {
    return piece(shape_index).Get<NativeT>(multi_index);
  }
  template <typename NativeT>
  NativeT Get(absl::Span<const int64_t> multi_index) const {
    return root_->Get<NativeT>(multi_index);
  }
  // The element by its position in storage.
  template <typename NativeT>
  NativeT GetLinear(int64_t linear_index, const ShapeIndex& shape_index) const {
    return data<NativeT>(shape_index)[linear_index];
  }
  template <typename NativeT>
  NativeT GetLinear(int64_t linear_index) const {
    return root_->data<NativeT>()[linear_index];
  }
  // The element at index 0 of every dimension. Dies if there is none.
  template <typename NativeT>
  NativeT GetFirstElement() const {
    const absl::Span<const NativeT> elements = root_->data<NativeT>();
    KASHI_CHECK(!elements.empty()) << shape();
    return elements[0];
  }
  // nullopt: not an array of integers (PRED is not one), empty, or beyond int64.
  std::optional<int64_t> GetFirstInteger() const;
  // The element as ToString prints it. (literal_text.cc)
  std::string GetAsString(absl::Span<const int64_t> multi_index, const ShapeIndex& shape_index = {}) const;

  // Integers and PRED (a u64 beyond int64 wraps); nullopt for other types.
  std::optional<int64_t> GetIntegralAsS64(absl::Span<const int64_t> multi_index) const;
  // Real floating-point types; nullopt for others.
  std::optional<double> GetAsDouble(absl::Span<const int64_t> multi_index) const;
  // A number of any type whose values complex128 holds exactly: not S64, U64 and PRED.
  std::optional<complex128> GetAsComplex128(absl::Span<const int64_t> multi_index) const;
  // The sum, in the order given, of elements by position in storage. Real floating-point types; nullopt for others.
  std::optional<double> GetSumAsDouble(absl::Span<const int64_t> linear_indices) const;
  // Integers and PRED compare as int64, other types as complex128 (to which a complex64 converts).
  template <typename T, std::enable_if_t<std::numeric_limits<T>::is_specialized, int> = 0>
  bool IsEqualAt(absl::Span<const int64_t> multi_index, T value) const {
    if (const std::optional<int64_t> integer = GetIntegralAsS64(multi_index)) return *integer == value;
    return IsEqualAt(multi_index, complex128(static_cast<double>(value), 0));
  }
  bool IsEqualAt(absl::Span<const int64_t> multi_index, complex128 value) const;
  bool IsZero(absl::Span<const int64_t> multi_index) const;

  // The valid elements in logical row-major order. The index is good during the call only.
  template <typename NativeT>
  void EachCell(absl::FunctionRef<void(absl::Span<const int64_t> indices, NativeT value)> per_cell) const;
  // Stops at the first false; true if there was none.
  template <typename NativeT>
  bool EachCellUntilFailure(absl::FunctionRef<bool(absl::Span<const int64_t> indices, NativeT value)> per_cell) const;
  // Calls per_cell for all elements of the bounds.
  void EachCellAsString(
      absl::FunctionRef<void(absl::Span<const int64_t> indices, const std::string& value)> per_cell) const;

  // ----------------------------------------------------------------------------- comparing, asking (literal_query.cc)

  // Same tree, element types, ranks, current sizes, and equal valid elements; states of leaves that are not known must
  // be the same. Elements compare as bytes where both shapes are static and equal with their layouts, else by their
  // type's ==: NaN equals itself and -0 differs from 0 on the first path only, as in XLA.
  bool Equal(const LiteralBase& other, bool layout_sensitive = false) const;
  bool operator==(const LiteralBase& other) const { return Equal(other); }
  bool operator!=(const LiteralBase& other) const { return !Equal(other); }

  // All elements have the bits of `scalar`; of types narrower than a byte, the low bits count. False if it is not an
  // array or not known, true for an empty array. Dies unless the element types agree. So do the next ones.
  bool IsAll(const Literal& scalar) const;
  // False if `value` is not exactly a value of the type. PRED: 0 and 1.
  bool IsAll(int8_t value) const;
  // Real floating-point types only. `value` is rounded to the type; compares bits (0 is not -0).
  bool IsAllFloat(float value) const;
  bool IsAllComplex(complex64 value) const;  // complex types only
  bool IsAllFirst() const;                   // all elements have the bits of the first; false if there is none
  // [0, 1, 2, ...] of rank 1; PRED never is.
  bool IsR1Iota() const;
  // The s of [0, s, 2 * s, ...]: integers, rank 1, at least two elements, s != 0.
  std::optional<int64_t> IsR1StridedIota() const;
  // The number of elements equal to `value` after its conversion to the type (by Convert's rules); NaN equals NaN. A
  // complex value finds nothing in an array that is not complex.
  template <typename T>
  int64_t CountEqual(T value) const {
    return CountEqualTo(CountedValueOf(value));
  }
  template <typename T>
  int64_t CountEqual(std::complex<T> value) const {
    return CountEqualTo({CountedValue::kComplex, 0, 0, 0, complex128(value)});
  }

  // A literal has no hash function, because the caller must choose whether layouts count:
  //   absl::Hash<LiteralBase::AbslHashable<false>>()(LiteralBase::AbslHashable<false>(literal))
  template <typename H>
  friend H AbslHashValue(H state, const LiteralBase& literal) = delete;
  template <bool kLayoutSensitive>
  struct AbslHashable {
    explicit AbslHashable(const LiteralBase& l) : literal(l) {}
    const LiteralBase& literal;
    template <typename H>
    friend H AbslHashValue(H h, const AbslHashable& hashable) {
      return LiteralBase::Hash<H, kLayoutSensitive>(std::move(h), hashable.literal);
    }
  };
  // Hashes the shape and the bytes of valid elements, at most kByteLimit of each leaf; in storage order if layouts
  // count and the shape is static, else in logical order.
  template <typename H, bool kIsLayoutSensitive = true, int64_t kByteLimit = std::numeric_limits<int64_t>::max()>
  static H Hash(H state, const LiteralBase& literal);

  // -------------------------------------------------------------------------------- element types (literal_convert.cc)

  // An array of another element type, in the same layout; unknown leaves stay unknown. float to integer saturates and
  // makes NaN 0, integer to integer keeps the low bits, anything to PRED is x != 0, real to complex has imaginary part
  // 0. UNIMPLEMENTED: complex to non-complex, or to a type that is not an element type; INVALID_ARGUMENT: not an array.
  absl::StatusOr<Literal> Convert(PrimitiveType primitive_dest_type) const;
  // Converts trees in the same way: only the element types of `dest_shape` count. INVALID_ARGUMENT if the trees differ.
  absl::StatusOr<Literal> ConvertToShape(const Shape& dest_shape) const;
  // The same bytes, in storage order, as another type. If the sizes agree only when sub-byte elements are packed (u8[1]
  // as u4[2]), they are packed, the first in the low bits. INVALID_ARGUMENT: tuples, dynamic shapes, different sizes.
  absl::StatusOr<Literal> BitcastConvert(const Shape& dest_shape) const;

  // --------------------------------------------------------------------------------------- copies (literal_copy.cc)

  Literal Clone() const;
  std::unique_ptr<Literal> CloneToUnique() const;
  // A copy with another layout for one leaf; for all leaves. Die unless compatible.
  Literal Relayout(const Layout& new_layout, const ShapeIndex& shape_index = {}) const;
  Literal Relayout(const Shape& shape_with_layout) const;
  // Current sizes become static ones; the other way around, with the bounds of `bounded_shape`.
  Literal ToStatic() const;
  Literal ToBoundedDynamic(const Shape& bounded_shape) const;
  // The elements in row-major order with other dimensions, in the default layout. INVALID_ARGUMENT if their product is
  // different or this is not an array, UNIMPLEMENTED for dynamic shapes.
  absl::StatusOr<Literal> Reshape(absl::Span<const int64_t> dimensions) const;
  // Dimension i of this array becomes dimension dimensions[i] of the result; the sizes must agree, or ours must be 1.
  // The current size of a dynamic dimension goes along.
  absl::StatusOr<Literal> Broadcast(const Shape& result_shape, absl::Span<const int64_t> dimensions) const;
  // Dimension i of the result is dimension permutation[i] of this one. No element moves in memory: the layout changes.
  Literal Transpose(absl::Span<const int64_t> permutation) const;
  // The part [start, limit) of each dimension, in the same layout. Dies out of range.
  Literal Slice(absl::Span<const int64_t> start_indices, absl::Span<const int64_t> limit_indices) const;
  // `times` copies along a new dimension 0, in the default layout.
  template <typename NativeT>
  Literal Replicate(int64_t times) const;

  // --------------------------------------------------------------------------- protos, serialization (kashi/proto)

  LiteralProto ToProto() const;
  absl::StatusOr<int64_t> SerializedSize() const;
  absl::Status SerializeToString(std::string* output) const;
  absl::StatusOr<std::string> SerializeAsString() const;
  template <typename OutputIterator>
  absl::Status Serialize(OutputIterator output) const {
    KASHI_ASSIGN_OR_RETURN(const std::string bytes, SerializeAsString());
    std::copy(bytes.begin(), bytes.end(), output);
    return absl::OkStatus();
  }

  // ------------------------------------------------------------------------------------------ text (literal_text.cc)

  std::string ToString() const;
  std::string ToStringOneline() const;
  std::string ToStringWithoutShape() const;
  std::string ToStringWithoutShapeOneline() const;
  std::string ToStringWithLayout() const;
  std::string ToStringWithLayoutOneline() const;
  void Print(Printer* printer) const;
  void PrintOneline(Printer* printer) const;
  void PrintWithoutShape(Printer* printer) const;
  void PrintWithoutShapeOneline(Printer* printer) const;
  void PrintWithLayout(Printer* printer) const;
  void PrintWithLayoutOneline(Printer* printer) const;
  // The bytes of a u8[n]. Dies for other shapes. (literal_access.cc)
  std::string GetR1U8AsString() const;

  // ---------------------------------------------------------------------------------------------------------- making

  static Literal CreateFromShape(const Shape& shape);  // zeros; dies where Literal(shape) does
  static Literal CreateFromShapeWithUnknownLeafArrays(const Shape& shape);
  static Literal CreateFromShapeWithUndeterminedLeafArrays(const Shape& shape);

 protected:
  using Piece = literal::LiteralPiece;
  using Tree = literal::LiteralTree;
  friend class MutableLiteralBase;
  friend class Literal;
  friend class LiteralSlice;
  friend class BorrowingLiteral;
  friend class MutableBorrowingLiteral;

  explicit LiteralBase(const Piece* root) : root_(root) {}
  LiteralBase(const LiteralBase&) = default;
  LiteralBase& operator=(const LiteralBase&) = default;
  ~LiteralBase() = default;

  // A literal with the same values under a compatible shape. Fails as Make does.
  absl::StatusOr<Literal> CopyWithShape(const Shape& other_shape) const;
  Literal ReplicateElements(int64_t times) const;

  // The first bytes of the valid elements in logical order; of types narrower than a byte, the low bits.
  static std::vector<char> RowMajorBytes(const Piece& piece, int64_t byte_limit);

  // The node at an index; dies if there is none.
  const Piece& piece(ShapeIndexView index) const;

  // A number that CountEqual looks for, in the widest type of its kind.
  struct CountedValue {
    enum { kSigned, kUnsigned, kReal, kComplex } kind;
    int64_t signed_value;
    uint64_t unsigned_value;
    double real;
    complex128 complex;
  };
  template <typename T>
  static CountedValue CountedValueOf(T value);
  int64_t CountEqualTo(const CountedValue& value) const;

  // Never null. The tree below it never moves in memory while it lives.
  const Piece* root_;
};
std::ostream& operator<<(std::ostream& out, const LiteralBase& literal);  // ToString()

class MutableLiteralBase : public LiteralBase {
 public:
  using LiteralBase::data;
  using LiteralBase::untyped_data;
  template <typename NativeT>
  absl::Span<NativeT> data(const ShapeIndex& shape_index = {}) {
    return piece(shape_index).data<NativeT>();
  }
  void* untyped_data(const ShapeIndex& shape_index = {}) { return piece(shape_index).memory(); }

  template <typename NativeT>
  void Set(absl::Span<const int64_t> multi_index, const ShapeIndex& shape_index, NativeT value) {
    const Piece& p = piece(shape_index);
    p.data<NativeT>()[p.LinearIndex(multi_index)] = value;
  }
  template <typename NativeT>
  void Set(absl::Span<const int64_t> multi_index, NativeT value) {
    root_->data<NativeT>()[root_->LinearIndex(multi_index)] = value;
  }
  // Convert from S64 or F64 by the rules of Convert. FAILED_PRECONDITION: the array is not of integers or PRED; not of
  // real or complex floating-point numbers.
  absl::Status SetIntegralAsS64(absl::Span<const int64_t> multi_index, int64_t value);
  absl::Status SetFromDouble(absl::Span<const int64_t> multi_index, double value);

  // Makes the dimension dynamic. Dies if `size` is negative or larger than the bound.
  void SetDynamicSize(int64_t dim_index, const ShapeIndex& shape_index, DynamicSizeType size);
  void SetDynamicSize(int64_t dim_index, DynamicSizeType size);

  // Callers that change more than the layout of this shape must follow the memory rules above.
  Shape* mutable_shape_do_not_use();

  // --------------------------------------------------------------------------------------- copies (literal_copy.cc)

  // Copies a subtree over one of ours, into our layouts, and current sizes from dynamic shapes to dynamic ones. With
  // `only_dynamic_bound` one side may have larger bounds than the other, and only elements valid on both sides are
  // copied. Leaves that are not known in the source are not known here any more, and the other way round.
  // INVALID_ARGUMENT: incompatible shapes.
  absl::Status CopyFrom(const LiteralSlice& src_literal, const ShapeIndex& dest_shape_index = {},
                        const ShapeIndex& src_shape_index = {}, bool only_dynamic_bound = false);
  // Copies a box of `copy_size` elements from one array into another of the same element type and rank, or into another
  // place of the same array. With a scalar on either side: one element, and `copy_size` is empty.
  // INVALID_ARGUMENT: not arrays, other element types, a box out of bounds, a source that is not known.
  absl::Status CopySliceFrom(const LiteralSlice& src_literal, absl::Span<const int64_t> src_base,
                             absl::Span<const int64_t> dest_base, absl::Span<const int64_t> copy_size);
  absl::Status CopyElementFrom(const LiteralSlice& src_literal, absl::Span<const int64_t> src_index,
                               absl::Span<const int64_t> dest_index);

  // -------------------------------------------------------------------------------------------------------- filling
  // Rank, element type and current sizes must be those of the values; otherwise these functions die. An array that is
  // not known becomes known by every function of this section: elements that are not written are 0.

  template <typename NativeT>
  void PopulateR1(absl::Span<const NativeT> values);
  // tsl::core::Bitmap; a template because that class lives elsewhere.
  template <typename BitmapT, std::enable_if_t<std::is_same_v<BitmapT, tsl::core::Bitmap>, int> = 0>
  void PopulateR1(const BitmapT& values);
  template <typename NativeT>
  void PopulateR2(std::initializer_list<std::initializer_list<NativeT>> values);
  template <typename NativeT>
  void PopulateFromArray(const Array<NativeT>& values);
  template <typename NativeT>
  void PopulateR2FromArray2D(const Array2D<NativeT>& values);
  template <typename NativeT>
  void PopulateR3FromArray3D(const Array3D<NativeT>& values);
  template <typename NativeT>
  void PopulateR4FromArray4D(const Array4D<NativeT>& values);
  template <typename NativeT>
  void PopulateWithValue(NativeT value);

  // Sets every element of the bounds to a function of its index, in storage order; Linear: of its storage position.
  // Parallel: from several threads; the function also gets a thread number in [0, ParallelThreadCount()), or -1 where
  // there was too little work for threads. Inplace: the function writes the element itself.
  // INVALID_ARGUMENT unless this is an array (of NativeT).
  template <typename NativeT, typename Generator,
            std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, absl::Span<const int64_t>>, int> = 0>
  absl::Status Populate(Generator&& generator);
  template <typename NativeT, typename Generator,
            std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, absl::Span<const int64_t>, int>, int> = 0>
  absl::Status PopulateParallel(Generator&& generator);
  template <typename NativeT, typename Generator,
            std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, int64_t>, int> = 0>
  absl::Status PopulateLinear(Generator&& generator);
  template <typename NativeT, typename Generator,
            std::enable_if_t<std::is_invocable_r_v<NativeT, Generator, int64_t, int>, int> = 0>
  absl::Status PopulateLinearParallel(Generator&& generator);
  template <typename Populator,
            std::enable_if_t<std::is_invocable_v<Populator, void*, absl::Span<const int64_t>>, int> = 0>
  absl::Status PopulateInplace(Populator&& populator);
  template <typename Populator,
            std::enable_if_t<std::is_invocable_v<Populator, void*, absl::Span<const int64_t>, int>, int> = 0>
  absl::Status PopulateInplaceParallel(Populator&& populator);
  template <typename Populator, std::enable_if_t<std::is_invocable_v<Populator, void*, int64_t>, int> = 0>
  absl::Status PopulateLinearInplace(Populator&& populator);
  template <typename Populator, std::enable_if_t<std::is_invocable_v<Populator, void*, int64_t, int>, int> = 0>
  absl::Status PopulateLinearInplaceParallel(Populator&& populator);

  // Replaces each element of the bounds, in logical row-major order.
  template <typename NativeT>
  void MutableEachCell(absl::FunctionRef<NativeT(absl::Span<const int64_t> indices, NativeT value)> per_cell);

  // A tuple of the elements. It takes over their memory; they become empty tuples.
  static Literal MoveIntoTuple(absl::Span<Literal> elements);
  // From a proto with a shape and layouts. INVALID_ARGUMENT otherwise; and, with `prohibit_empty_literal`, where the
  // proto holds no values for an array that has elements (they are zeros without it). (kashi/proto)
  static absl::StatusOr<Literal> CreateFromProto(const LiteralProto& proto, bool prohibit_empty_literal = true);

 protected:
  using LiteralBase::LiteralBase;
  MutableLiteralBase(const MutableLiteralBase&) = default;
  MutableLiteralBase& operator=(const MutableLiteralBase&) = default;
  ~MutableLiteralBase() = default;

 private:
  // Checks that this is an array (of this type), and allocates its memory if there is none.
  absl::Status PrepareToPopulate(PrimitiveType type);
  absl::Status PrepareToPopulate();
  // Checks that both are arrays of one type and that the elements of `from` are known; allocates memory here if needed.
  absl::Status PrepareToCopy(const LiteralSlice& from);
  // Allocates the memory of an array that has none, all zeros.
  absl::Status MakeKnown();
  // `values` in row-major order; their number must be that of the array. Dies if its type or current sizes differ.
  void PopulateFromRowMajor(PrimitiveType type, absl::Span<const int64_t> dimensions, const void* values);
  template <typename Visit>
  void ForEachInStorage(Visit&& visit) const;  // visit(index, position, thread -1)
  template <typename Visit>
  void ForEachInStorageParallel(Visit&& visit) const;
  template <typename Visit>
  void ForEachPositionParallel(Visit&& visit) const;  // visit(position, thread)
};
class Literal : public MutableLiteralBase {
 public:
  // The empty tuple. Allocates nothing.
  Literal();
  // Missing layouts become the default ones; the E of an array becomes 0. Memory is uninitialised; without
  // `allocate_arrays`, or in another state than known, there is none. Dies where Make fails.
  explicit Literal(const Shape& shape);
  Literal(const Shape& shape, bool allocate_arrays, ArrayValueState leaf_array_value_state = ArrayValueState::kKnown);
  // RESOURCE_EXHAUSTED: not enough memory (leaves of 2^40 bytes and more are refused at once); INVALID_ARGUMENT: a
  // shape that has no values, such as one with `?`.
  static absl::StatusOr<Literal> Make(const Shape& shape, bool allocate_arrays = true,
                                      ArrayValueState leaf_array_value_state = ArrayValueState::kKnown);

  // The source of a move becomes an empty tuple. Slices and views of the source stay valid: no element moves.
  Literal(Literal&& other) noexcept;
  Literal& operator=(Literal&& other) noexcept;
  Literal(const Literal&) = delete;
  Literal& operator=(const Literal&) = delete;
  ~Literal();

  // The source's memory becomes that of the subtree at `dest_shape_index`, whose shape must be equal, layouts included
  // (INVALID_ARGUMENT); the source becomes an empty tuple.
  absl::Status MoveFrom(Literal&& src_literal, const ShapeIndex& dest_shape_index);
  absl::Status MoveFrom(Literal&& src_literal) { return MoveFrom(std::move(src_literal), {}); }
  // The elements of a tuple, with their memory; this becomes an empty tuple. Dies unless a tuple.
  std::vector<Literal> DecomposeTuple();
  // Takes the memory of a subtree out; it stays here without memory.
  Literal SubLiteral(ShapeIndexView shape_index);

  static absl::StatusOr<Literal> DeserializeFromString(absl::string_view data);  // kashi/proto
  template <typename InputIterator>
  static absl::StatusOr<Literal> Deserialize(InputIterator begin, InputIterator end) {
    return DeserializeFromString(std::string(begin, end));
  }

 private:
  friend class LiteralBase;
  friend class MutableLiteralBase;
  // Null: the empty tuple.
  explicit Literal(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// Does not own; the literal must outlive it. Has its own tree of pieces and its own copy of the shape, so a dynamic
// size that it sets does not make a dimension of the literal dynamic.
class MutableBorrowingLiteral : public MutableLiteralBase {
 public:
  MutableBorrowingLiteral();
  MutableBorrowingLiteral(const MutableBorrowingLiteral& literal);
  MutableBorrowingLiteral& operator=(const MutableBorrowingLiteral& literal);
  MutableBorrowingLiteral(MutableLiteralBase* literal);  // NOLINT: implicit, as XLA's
  MutableBorrowingLiteral(MutableBorrowingLiteral literal, const ShapeIndex& view_root);
  // An array; a tuple of arrays, one address each; any tree. Layouts are needed.
  MutableBorrowingLiteral(const char* src_buf_ptr, const Shape& shape);
  MutableBorrowingLiteral(absl::Span<char*> src_buf_ptrs, const Shape& shape);
  explicit MutableBorrowingLiteral(ShapeTree<char*> src_buf_ptrs);
  ~MutableBorrowingLiteral();

 private:
  void Reset(std::unique_ptr<Tree> tree);
  std::unique_ptr<Tree> tree_;
};

// Cheap to copy. The literal must outlive it and keep its tree; it may be moved.
class LiteralSlice : public LiteralBase {
 public:
  LiteralSlice();                            // of an empty tuple
  LiteralSlice(const LiteralBase& literal);  // NOLINT: implicit, as XLA's
  LiteralSlice(const LiteralBase& literal, const ShapeIndex& view_root);
};

// A literal over memory that others own and that must outlive it. Moves only.
class BorrowingLiteral : public LiteralBase {
 public:
  BorrowingLiteral();
  BorrowingLiteral(const char* src_buf_ptr, const Shape& shape);                     // an array
  BorrowingLiteral(absl::Span<const char* const> src_buf_ptrs, const Shape& shape);  // a tuple of arrays
  explicit BorrowingLiteral(ShapeTree<const char*> src_buf_ptrs);
  BorrowingLiteral(BorrowingLiteral&&) noexcept;
  BorrowingLiteral& operator=(BorrowingLiteral&&) noexcept;
  ~BorrowingLiteral();

 private:
  std::unique_ptr<Tree> tree_;
};

}  // namespace kashi

#include "kashi/literal/literal_inline.h"

#endif  // KASHI_LITERAL_LITERAL_H_
