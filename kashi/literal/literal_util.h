// LiteralUtil: static functions to make and change literals, with XLA's names.
//
//   LiteralUtil::CreateR0<float>(42)                              // f32[] 42
//   LiteralUtil::CreateR1<int32_t>({1, 2, 3})                     // s32[3] {1, 2, 3}
//   LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}})                // f32[2,2]
//   LiteralUtil::MakeTuple({&a, &b})                              // copies; MakeTupleOwned(std::move(a), …) moves
//
// Without "WithLayout", literals have the default layout: descending, row-major. Of a given layout only minor_to_major
// is used. Ragged lists and layouts of another rank die. docs/spec/xla-api.md, section 14.
#ifndef KASHI_LITERAL_LITERAL_UTIL_H_
#define KASHI_LITERAL_LITERAL_UTIL_H_

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
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
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/literal/array.h"
#include "kashi/literal/array2d.h"
#include "kashi/literal/array3d.h"
#include "kashi/literal/array4d.h"
#include "kashi/literal/fake_literal.h"
#include "kashi/literal/literal.h"

namespace kashi {

class LiteralUtil {
 public:
  LiteralUtil() = delete;

  // ------------------------------------------------------------------------------------------------------- from values

  template <typename NativeT>
  static Literal CreateR0(NativeT value);
  // The value is converted to the type by static_cast. Dies for types of no array, and of a complex value for a type
  // that is not complex.
  template <typename T>
  static Literal CreateR0(PrimitiveType primitive_type, T value);
  template <typename NativeT>
  static Literal CreateR1(absl::Span<const NativeT> values);
  // pred[bits], of a tsl::core::Bitmap; a template because that class lives elsewhere.
  template <typename BitmapT, std::enable_if_t<std::is_same_v<BitmapT, tsl::core::Bitmap>, int> = 0>
  static Literal CreateR1(const BitmapT& values);
  static Literal CreateR1U8(absl::string_view value);  // the bytes
  template <typename NativeT>
  static Literal CreateR2(std::initializer_list<std::initializer_list<NativeT>> values);
  template <typename NativeT>
  static Literal CreateR2WithLayout(std::initializer_list<std::initializer_list<NativeT>> values, const Layout& layout);
  template <typename NativeT>
  static Literal CreateR3(std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> values);
  template <typename NativeT>
  static Literal CreateR3WithLayout(std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> values,
                                    const Layout& layout);
  template <typename NativeT>
  static Literal CreateR4(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> values);
  template <typename NativeT>
  static Literal CreateR4WithLayout(
      std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> values,
      const Layout& layout);
  static Literal CreateToken();

  // ------------------------------------------------------------------------------------------------------- from arrays

  template <typename NativeT>
  static Literal CreateFromArray(const Array<NativeT>& values);
  template <typename NativeT>
  static Literal CreateFromArrayWithLayout(const Array<NativeT>& values, const Layout& layout);
  template <typename NativeT>
  static Literal CreateR2FromArray2D(const Array2D<NativeT>& values);
  template <typename NativeT>
  static Literal CreateR2FromArray2DWithLayout(const Array2D<NativeT>& values, const Layout& layout);
  template <typename NativeT>
  static Literal CreateR3FromArray3D(const Array3D<NativeT>& values);
  template <typename NativeT>
  static Literal CreateR3FromArray3DWithLayout(const Array3D<NativeT>& values, const Layout& layout);
  template <typename NativeT>
  static Literal CreateR4FromArray4D(const Array4D<NativeT>& values);
  template <typename NativeT>
  static Literal CreateR4FromArray4DWithLayout(const Array4D<NativeT>& values, const Layout& layout);

  // ------------------------------------------------------------------------------------------------------- by a rule

  // An array with one value everywhere; an array of zeros.
  template <typename NativeT>
  static Literal CreateFull(absl::Span<const int64_t> dimensions, NativeT value);
  template <typename NativeT>
  static Literal CreateFullWithDescendingLayout(absl::Span<const int64_t> dimensions, NativeT value);
  static Literal CreateFromDimensions(PrimitiveType primitive_type, absl::Span<const int64_t> dimensions);
  // f32[rows,cols]: numbers at equal distances, `from` first, `to` last.
  static Literal CreateR2F32Linspace(float from, float to, int64_t rows, int64_t cols);
  // Repeats the matrix for every index of the new major dimensions, of those sizes.
  template <typename NativeT>
  static Literal CreateR3Projected(std::initializer_list<std::initializer_list<NativeT>> values, int64_t projection);
  template <typename NativeT>
  static Literal CreateR4Projected(std::initializer_list<std::initializer_list<NativeT>> values, int64_t projection_p,
                                   int64_t projection_z);
  // size x size, with the scalar (with 1) on the diagonal and 0 elsewhere.
  template <typename NativeT>
  static Literal MakeScalarMatrixR2(int64_t size, NativeT scalar);
  template <typename NativeT>
  static Literal MakeIdentityR2(int64_t size);
  // m x n; element (i, j) is scale * (i * row_factor + j * column_factor), the factors log10 of the sizes, plus one.
  template <typename NativeT>
  static Literal CreateFingerprintMatixR2(int64_t m, int64_t n, NativeT scale = 1);

  // Elements from a function of the index, called in storage order. INVALID_ARGUMENT unless `shape` is an array of
  // `type`. (common_type_t: so that T is not deduced from a lambda, which it could not be.)
  template <PrimitiveType type, typename T = primitive_util::NativeTypeOf<type>>
  static absl::StatusOr<Literal> CreateLiteralWithGenerator(
      const Shape& shape, absl::FunctionRef<std::common_type_t<T>(absl::Span<const int64_t>)> generator);
  // Normally distributed numbers; without an engine, from std::minstd_rand0: the same in every run.
  template <PrimitiveType type, typename E, typename T = primitive_util::NativeTypeOf<type>>
  static absl::StatusOr<Literal> CreateRandomLiteral(const Shape& shape, E* engine, T mean, T stddev);
  template <PrimitiveType type, typename T = primitive_util::NativeTypeOf<type>>
  static absl::StatusOr<Literal> CreateRandomLiteral(const Shape& shape, T mean, T stddev);

  // ----------------------------------------------------------------------------------- scalars of a type known late
  // Die for types of no array, and where the type has no such value.

  static Literal Zero(PrimitiveType primitive_type);
  static Literal One(PrimitiveType primitive_type);
  // -inf and inf where there are infinities; not for complex types. MaxFiniteValue: of floating-point types.
  static Literal MinValue(PrimitiveType primitive_type);
  static Literal MaxValue(PrimitiveType primitive_type);
  static Literal MaxFiniteValue(PrimitiveType primitive_type);
  // NaN, in both parts if complex. INVALID_ARGUMENT: the type has none.
  static absl::StatusOr<Literal> NanValue(PrimitiveType primitive_type);

  // ------------------------------------------------------------------------------------------------------------ tuples

  static Literal MakeTuple(absl::Span<const Literal* const> elements);  // copies
  static Literal MakeTupleFromSlices(absl::Span<const LiteralSlice> elements);
  static Literal MakeTupleOwned(std::vector<Literal> elements);  // moves
  template <typename... Elements,
            std::enable_if_t<std::conjunction_v<std::is_same<std::decay_t<Elements>, Literal>...>, int> = 0>
  static Literal MakeTupleOwned(Elements&&... elements) {
    static_assert((!std::is_lvalue_reference_v<Elements> && ...), "Say std::move: the elements are taken.");
    std::vector<Literal> list;
    list.reserve(sizeof...(elements));
    (list.push_back(std::move(elements)), ...);
    return MakeTupleOwned(std::move(list));
  }
  static std::vector<const Literal*> MakePointers(absl::Span<const Literal> literals);

  // -------------------------------------------------------------------------------------------------------- conversion
  // Leaves of the one type become leaves of the other (as by Literal::Convert); all else is copied.

  static Literal ConvertF32ToBF16(const LiteralSlice& literal);
  static Literal ConvertBF16ToF32(const LiteralSlice& literal);
  static Literal ConvertBF16ToF64(const LiteralSlice& literal);
  static Literal ConvertF32ToF64(const LiteralSlice& literal);
  static Literal ConvertF64ToF32(const LiteralSlice& literal);
  static Literal ConvertF64ToBF16(const LiteralSlice& literal);
  static Literal ConvertS32ToF32(const LiteralSlice& literal);
  static Literal ConvertS8ToF32(const LiteralSlice& literal);
  static Literal ConvertF32ToS8(const LiteralSlice& literal);
  static Literal ConvertS32ToS1(const LiteralSlice& literal);
  static Literal ConvertF8E4M3FNToF32(const LiteralSlice& literal);
  static Literal ConvertF8E5M2ToF32(const LiteralSlice& literal);
  static Literal ConvertF32ToF8E4M3FN(const LiteralSlice& literal);
  static Literal ConvertF32ToF8E5M2(const LiteralSlice& literal);
  static Literal ConvertF32ToF8E4M3FNUZ(const LiteralSlice& literal);
  static Literal ConvertF32ToF8E5M2FNUZ(const LiteralSlice& literal);

  // ---------------------------------------------------------------------------------------------------- single element

  // An element as a scalar: the first in storage, or the one at an index. Die if it is not an array or has no element.
  static Literal GetFirstScalarLiteral(const LiteralSlice& literal);
  static Literal GetScalarLiteral(const LiteralBase& literal, absl::Span<const int64_t> multi_index);
  // Dies unless `scalar` is a scalar of the element type.
  static void SetScalarLiteral(MutableLiteralBase& literal, absl::Span<const int64_t> multi_index,
                               const LiteralBase& scalar);
  // The largest element as a scalar. Dies for an empty or a complex array.
  static Literal MaxElement(const LiteralSlice& literal);
  // The first element of an array of one element of an integer type.
  static std::optional<int64_t> LiteralAsScalarInt64(const Literal& literal);
  static std::string MultiIndexAsString(absl::Span<const int64_t> multi_index);  // "{0,1}"

  // The elements in storage order as they are, with other dimensions and another layout. Dies unless there are as many.
  static Literal ReshapeSlice(absl::Span<const int64_t> new_dimensions, absl::Span<const int64_t> minor_to_major,
                              const LiteralSlice& literal);
};

// ---------------------------------------------------------------------------------------------------- template bodies

template <typename NativeT>
Literal LiteralUtil::CreateR0(NativeT value) {
  Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<NativeT>(), {}));
  literal.data<NativeT>()[0] = value;
  return literal;
}

template <typename T>
Literal LiteralUtil::CreateR0(PrimitiveType primitive_type, T value) {
  return primitive_util::ArrayTypeSwitch<Literal>(
      [&](auto type) -> Literal {
        using NativeT = primitive_util::NativeTypeOf<type>;
        if constexpr (is_complex_v<NativeT> && !is_complex_v<T>) {
          using Part = typename NativeT::value_type;
          return CreateR0(NativeT(static_cast<Part>(value)));
        } else if constexpr (is_complex_v<T> && !is_complex_v<NativeT>) {
          KASHI_LOG_FATAL() << "a complex value for " << PrimitiveType_Name(primitive_type);
          return Literal();
        } else {
          return CreateR0(static_cast<NativeT>(value));
        }
      },
      primitive_type);
}

template <typename NativeT>
Literal LiteralUtil::CreateR1(absl::Span<const NativeT> values) {
  Literal literal(
      ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<NativeT>(), {static_cast<int64_t>(values.size())}));
  literal.PopulateR1(values);
  return literal;
}

template <typename BitmapT, std::enable_if_t<std::is_same_v<BitmapT, tsl::core::Bitmap>, int>>
Literal LiteralUtil::CreateR1(const BitmapT& values) {
  Literal literal(ShapeUtil::MakeShape(PRED, {static_cast<int64_t>(values.bits())}));
  literal.PopulateR1(values);
  return literal;
}

template <typename NativeT>
Literal LiteralUtil::CreateR2(std::initializer_list<std::initializer_list<NativeT>> values) {
  return CreateFromArray(Array2D<NativeT>(values));
}
template <typename NativeT>
Literal LiteralUtil::CreateR2WithLayout(std::initializer_list<std::initializer_list<NativeT>> values,
                                        const Layout& layout) {
  return CreateFromArrayWithLayout(Array2D<NativeT>(values), layout);
}
template <typename NativeT>
Literal LiteralUtil::CreateR3(std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> values) {
  return CreateFromArray(Array3D<NativeT>(values));
}
template <typename NativeT>
Literal LiteralUtil::CreateR3WithLayout(
    std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>> values, const Layout& layout) {
  return CreateFromArrayWithLayout(Array3D<NativeT>(values), layout);
}
template <typename NativeT>
Literal LiteralUtil::CreateR4(
    std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> values) {
  return CreateFromArray(Array4D<NativeT>(values));
}
template <typename NativeT>
Literal LiteralUtil::CreateR4WithLayout(
    std::initializer_list<std::initializer_list<std::initializer_list<std::initializer_list<NativeT>>>> values,
    const Layout& layout) {
  return CreateFromArrayWithLayout(Array4D<NativeT>(values), layout);
}

template <typename NativeT>
Literal LiteralUtil::CreateFromArrayWithLayout(const Array<NativeT>& values, const Layout& layout) {
  Literal literal(ShapeUtil::MakeShapeWithDenseLayout(primitive_util::NativeToPrimitiveType<NativeT>(),
                                                      values.dimensions(), layout.minor_to_major()));
  literal.PopulateFromArray(values);
  return literal;
}
template <typename NativeT>
Literal LiteralUtil::CreateFromArray(const Array<NativeT>& values) {
  Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<NativeT>(), values.dimensions()));
  literal.PopulateFromArray(values);
  return literal;
}
template <typename NativeT>
Literal LiteralUtil::CreateR2FromArray2D(const Array2D<NativeT>& values) {
  return CreateFromArray(values);
}
template <typename NativeT>
Literal LiteralUtil::CreateR2FromArray2DWithLayout(const Array2D<NativeT>& values, const Layout& layout) {
  return CreateFromArrayWithLayout(values, layout);
}
template <typename NativeT>
Literal LiteralUtil::CreateR3FromArray3D(const Array3D<NativeT>& values) {
  return CreateFromArray(values);
}
template <typename NativeT>
Literal LiteralUtil::CreateR3FromArray3DWithLayout(const Array3D<NativeT>& values, const Layout& layout) {
  return CreateFromArrayWithLayout(values, layout);
}
template <typename NativeT>
Literal LiteralUtil::CreateR4FromArray4D(const Array4D<NativeT>& values) {
  return CreateFromArray(values);
}
template <typename NativeT>
Literal LiteralUtil::CreateR4FromArray4DWithLayout(const Array4D<NativeT>& values, const Layout& layout) {
  return CreateFromArrayWithLayout(values, layout);
}

template <typename NativeT>
Literal LiteralUtil::CreateFull(absl::Span<const int64_t> dimensions, NativeT value) {
  Literal literal(ShapeUtil::MakeShape(primitive_util::NativeToPrimitiveType<NativeT>(), dimensions));
  literal.PopulateWithValue(value);
  return literal;
}
template <typename NativeT>
Literal LiteralUtil::CreateFullWithDescendingLayout(absl::Span<const int64_t> dimensions, NativeT value) {
  return CreateFull(dimensions, value);
}

template <typename NativeT>
Literal LiteralUtil::CreateR3Projected(std::initializer_list<std::initializer_list<NativeT>> values,
                                       int64_t projection) {
  const Array2D<NativeT> matrix(values);
  Array3D<NativeT> array(projection, matrix.n1(), matrix.n2());
  array.TemplatedEach([&](absl::Span<const int64_t> i, NativeT* value) { *value = matrix(i[1], i[2]); });
  return CreateFromArray(array);
}
template <typename NativeT>
Literal LiteralUtil::CreateR4Projected(std::initializer_list<std::initializer_list<NativeT>> values,
                                       int64_t projection_p, int64_t projection_z) {
  const Array2D<NativeT> matrix(values);
  Array4D<NativeT> array(projection_p, projection_z, matrix.n1(), matrix.n2());
  array.FillWithYX(matrix);
  return CreateFromArray(array);
}

template <typename NativeT>
Literal LiteralUtil::MakeScalarMatrixR2(int64_t size, NativeT scalar) {
  Array2D<NativeT> array(size, size, NativeT(0));
  for (int64_t i = 0; i < size; ++i) array(i, i) = scalar;
  return CreateFromArray(array);
}
template <typename NativeT>
Literal LiteralUtil::MakeIdentityR2(int64_t size) {
  return MakeScalarMatrixR2<NativeT>(size, NativeT(1));
}

template <typename NativeT>
Literal LiteralUtil::CreateFingerprintMatixR2(int64_t m, int64_t n, NativeT scale) {
  const NativeT row_factor = static_cast<NativeT>(std::log10(m) + 1);
  const NativeT column_factor = static_cast<NativeT>(std::log10(n) + 1);
  Array2D<NativeT> array(m, n);
  array.Each([&](int64_t i, int64_t j, NativeT* value) {
    *value = scale * (static_cast<NativeT>(i) * row_factor + static_cast<NativeT>(j) * column_factor);
  });
  return CreateFromArray(array);
}

template <PrimitiveType type, typename T>
absl::StatusOr<Literal> LiteralUtil::CreateLiteralWithGenerator(
    const Shape& shape, absl::FunctionRef<std::common_type_t<T>(absl::Span<const int64_t>)> generator) {
  using NativeT = primitive_util::NativeTypeOf<type>;
  if (shape.element_type() != type) {
    return InvalidArgument("A literal of %s cannot be made by a generator of %s.", ShapeUtil::HumanString(shape),
                           primitive_util::LowercasePrimitiveTypeName(type));
  }
  KASHI_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  KASHI_RETURN_IF_ERROR(literal.Populate<NativeT>(
      [&](absl::Span<const int64_t> index) { return static_cast<NativeT>(generator(index)); }));
  return literal;
}

template <PrimitiveType type, typename E, typename T>
absl::StatusOr<Literal> LiteralUtil::CreateRandomLiteral(const Shape& shape, E* engine, T mean, T stddev) {
  using NativeT = primitive_util::NativeTypeOf<type>;
  std::normal_distribution<double> distribution(static_cast<double>(mean), static_cast<double>(stddev));
  return CreateLiteralWithGenerator<type, NativeT>(
      shape, [&](absl::Span<const int64_t>) { return static_cast<NativeT>(distribution(*engine)); });
}
template <PrimitiveType type, typename T>
absl::StatusOr<Literal> LiteralUtil::CreateRandomLiteral(const Shape& shape, T mean, T stddev) {
  std::minstd_rand0 engine;
  return CreateRandomLiteral<type>(shape, &engine, mean, stddev);
}

}  // namespace kashi

#endif  // KASHI_LITERAL_LITERAL_UTIL_H_
