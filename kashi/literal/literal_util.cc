#include "kashi/literal/literal_util.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal.h"

namespace kashi {
namespace {

// A scalar of the result of `make` for NativeT(); `make` must return a std::optional<NativeT>. Dies if it is nullopt.
template <typename Make>
std::optional<Literal> TryMakeScalar(PrimitiveType type, Make&& make) {
  return primitive_util::ArrayTypeSwitch<std::optional<Literal>>(
      [&](auto constant) -> std::optional<Literal> {
        using NativeT = primitive_util::NativeTypeOf<constant>;
        const std::optional<NativeT> value = make(NativeT());
        if (!value.has_value()) return std::nullopt;
        return LiteralUtil::CreateR0<NativeT>(*value);
      },
      type);
}
template <typename Make>
Literal MakeScalar(PrimitiveType type, const char* what, Make&& make) {
  KASHI_CHECK(primitive_util::IsArrayType(type)) << what << " of " << PrimitiveType_Name(type);
  std::optional<Literal> literal = TryMakeScalar(type, std::forward<Make>(make));
  KASHI_CHECK(literal.has_value()) << "there is no " << what << " of " << PrimitiveType_Name(type);
  return *std::move(literal);
}

// Calls visit(elements) with a span of the native type. Dies unless an array.
template <typename Result, typename Visit>
Result VisitElements(const LiteralBase& literal, Visit&& visit) {
  KASHI_CHECK(literal.shape().IsArray()) << literal.shape();
  return primitive_util::ArrayTypeSwitch<Result>(
      [&](auto constant) -> Result { return visit(literal.data<primitive_util::NativeTypeOf<constant>>()); },
      literal.shape().element_type());
}

Literal ConvertLeaves(const LiteralSlice& literal, PrimitiveType from, PrimitiveType to) {
  Shape result_shape = literal.shape();
  ShapeUtil::ForEachMutableLeafShape(&result_shape, [&](Shape* leaf, const ShapeIndex&) {
    if (leaf->element_type() == from) leaf->set_element_type(to);
  });
  absl::StatusOr<Literal> result = literal.ConvertToShape(result_shape);
  KASHI_CHECK_OK(result);
  return *std::move(result);
}

}  // namespace

Literal LiteralUtil::CreateR1U8(absl::string_view value) {
  Literal literal(ShapeUtil::MakeShape(U8, {static_cast<int64_t>(value.size())}));
  std::copy(value.begin(), value.end(), literal.data<uint8_t>().begin());
  return literal;
}

Literal LiteralUtil::CreateToken() { return Literal(ShapeUtil::MakeTokenShape()); }

Literal LiteralUtil::CreateFromDimensions(PrimitiveType primitive_type, absl::Span<const int64_t> dimensions) {
  return LiteralBase::CreateFromShape(ShapeUtil::MakeShape(primitive_type, dimensions));
}

Literal LiteralUtil::CreateR2F32Linspace(float from, float to, int64_t rows, int64_t cols) {
  return CreateR2FromArray2D(*MakeLinspaceArray2D(from, to, rows, cols));
}

Literal LiteralUtil::Zero(PrimitiveType primitive_type) {
  return MakeScalar(primitive_type, "zero", [](auto zero) { return std::optional(static_cast<decltype(zero)>(0.0f)); });
}
Literal LiteralUtil::One(PrimitiveType primitive_type) {
  return MakeScalar(primitive_type, "one", [](auto zero) { return std::optional(static_cast<decltype(zero)>(1.0f)); });
}

Literal LiteralUtil::MinValue(PrimitiveType primitive_type) {
  return MakeScalar(primitive_type, "smallest value", [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    if constexpr (is_complex_v<T>) {
      return std::optional<T>();
    } else if constexpr (Limits::has_infinity) {
      return std::optional<T>(-Limits::infinity());
    } else {
      return std::optional<T>(Limits::lowest());
    }
  });
}
Literal LiteralUtil::MaxValue(PrimitiveType primitive_type) {
  return MakeScalar(primitive_type, "largest value", [](auto zero) {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    if constexpr (is_complex_v<T>) {
      return std::optional<T>();
    } else {
      return std::optional<T>(Limits::has_infinity ? Limits::infinity() : Limits::max());
    }
  });
}
Literal LiteralUtil::MaxFiniteValue(PrimitiveType primitive_type) {
  return MakeScalar(primitive_type, "largest finite value", [](auto zero) {
    using T = decltype(zero);
    return is_specialized_floating_point_v<T> ? std::optional<T>(std::numeric_limits<T>::max()) : std::nullopt;
  });
}
absl::StatusOr<Literal> LiteralUtil::NanValue(PrimitiveType primitive_type) {
  const auto nan = [](auto zero) {
    using T = decltype(zero);
    if constexpr (is_complex_v<T>) {
      const auto part = std::numeric_limits<typename T::value_type>::quiet_NaN();
      return std::optional<T>(T(part, part));
    } else {
      using Limits = std::numeric_limits<T>;
      return Limits::has_quiet_NaN ? std::optional<T>(Limits::quiet_NaN()) : std::nullopt;
    }
  };
  std::optional<Literal> literal;
  if (primitive_util::IsArrayType(primitive_type)) literal = TryMakeScalar(primitive_type, nan);
  if (literal.has_value()) return *std::move(literal);
  return InvalidArgument("Invalid type for NanValue: %s", PrimitiveType_Name(primitive_type));
}

Literal LiteralUtil::MakeTuple(absl::Span<const Literal* const> elements) {
  std::vector<Literal> copies;
  copies.reserve(elements.size());
  for (const Literal* element : elements) copies.push_back(element->Clone());
  return MakeTupleOwned(std::move(copies));
}
Literal LiteralUtil::MakeTupleFromSlices(absl::Span<const LiteralSlice> elements) {
  std::vector<Literal> copies;
  copies.reserve(elements.size());
  for (const LiteralSlice& element : elements) copies.push_back(element.Clone());
  return MakeTupleOwned(std::move(copies));
}
Literal LiteralUtil::MakeTupleOwned(std::vector<Literal> elements) {
  return MutableLiteralBase::MoveIntoTuple(absl::MakeSpan(elements));
}
std::vector<const Literal*> LiteralUtil::MakePointers(absl::Span<const Literal> literals) {
  std::vector<const Literal*> pointers;
  pointers.reserve(literals.size());
  for (const Literal& literal : literals) pointers.push_back(&literal);
  return pointers;
}

Literal LiteralUtil::ConvertF32ToBF16(const LiteralSlice& literal) { return ConvertLeaves(literal, F32, BF16); }
Literal LiteralUtil::ConvertBF16ToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, BF16, F32); }
Literal LiteralUtil::ConvertBF16ToF64(const LiteralSlice& literal) { return ConvertLeaves(literal, BF16, F64); }
Literal LiteralUtil::ConvertF32ToF64(const LiteralSlice& literal) { return ConvertLeaves(literal, F32, F64); }
Literal LiteralUtil::ConvertF64ToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, F64, F32); }
Literal LiteralUtil::ConvertF64ToBF16(const LiteralSlice& literal) { return ConvertLeaves(literal, F64, BF16); }
Literal LiteralUtil::ConvertS32ToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, S32, F32); }
Literal LiteralUtil::ConvertS8ToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, S8, F32); }
Literal LiteralUtil::ConvertF32ToS8(const LiteralSlice& literal) { return ConvertLeaves(literal, F32, S8); }
Literal LiteralUtil::ConvertS32ToS1(const LiteralSlice& literal) { return ConvertLeaves(literal, S32, S1); }
Literal LiteralUtil::ConvertF8E4M3FNToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, F8E4M3FN, F32); }
Literal LiteralUtil::ConvertF8E5M2ToF32(const LiteralSlice& literal) { return ConvertLeaves(literal, F8E5M2, F32); }
Literal LiteralUtil::ConvertF32ToF8E4M3FN(const LiteralSlice& literal) { return ConvertLeaves(literal, F32, F8E4M3FN); }
Literal LiteralUtil::ConvertF32ToF8E5M2(const LiteralSlice& literal) { return ConvertLeaves(literal, F32, F8E5M2); }
Literal LiteralUtil::ConvertF32ToF8E4M3FNUZ(const LiteralSlice& literal) {
  return ConvertLeaves(literal, F32, F8E4M3FNUZ);
}
Literal LiteralUtil::ConvertF32ToF8E5M2FNUZ(const LiteralSlice& literal) {
  return ConvertLeaves(literal, F32, F8E5M2FNUZ);
}

Literal LiteralUtil::GetFirstScalarLiteral(const LiteralSlice& literal) {
  return VisitElements<Literal>(literal, [&](auto elements) {
    KASHI_CHECK(!elements.empty()) << literal.shape() << " has no element";
    return CreateR0(elements[0]);
  });
}

Literal LiteralUtil::GetScalarLiteral(const LiteralBase& literal, absl::Span<const int64_t> multi_index) {
  KASHI_CHECK(literal.shape().IsArray()) << literal.shape();
  return primitive_util::ArrayTypeSwitch<Literal>(
      [&](auto constant) { return CreateR0(literal.Get<primitive_util::NativeTypeOf<constant>>(multi_index)); },
      literal.shape().element_type());
}

void LiteralUtil::SetScalarLiteral(MutableLiteralBase& literal, absl::Span<const int64_t> multi_index,
                                   const LiteralBase& scalar) {
  KASHI_CHECK(scalar.shape().IsArray() && scalar.shape().dimensions().empty()) << scalar.shape();
  KASHI_CHECK_EQ(scalar.shape().element_type(), literal.shape().element_type());
  primitive_util::ArrayTypeSwitch<void>(
      [&](auto constant) {
        using NativeT = primitive_util::NativeTypeOf<constant>;
        literal.Set<NativeT>(multi_index, scalar.data<NativeT>()[0]);
      },
      literal.shape().element_type());
}

Literal LiteralUtil::MaxElement(const LiteralSlice& literal) {
  return VisitElements<Literal>(literal, [&](auto elements) -> Literal {
    using NativeT = typename decltype(elements)::value_type;
    KASHI_CHECK(!elements.empty()) << literal.shape() << " has no element";
    if constexpr (is_complex_v<NativeT>) {
      KASHI_LOG_FATAL() << "complex numbers have no order";
      return Literal();
    } else {
      return CreateR0<NativeT>(*std::max_element(elements.begin(), elements.end()));
    }
  });
}

std::optional<int64_t> LiteralUtil::LiteralAsScalarInt64(const Literal& literal) {
  if (!ShapeUtil::IsEffectiveScalar(literal.shape())) return std::nullopt;
  return literal.GetFirstInteger();
}

std::string LiteralUtil::MultiIndexAsString(absl::Span<const int64_t> multi_index) {
  return absl::StrCat("{", absl::StrJoin(multi_index, ","), "}");
}

Literal LiteralUtil::ReshapeSlice(absl::Span<const int64_t> new_dimensions, absl::Span<const int64_t> minor_to_major,
                                  const LiteralSlice& literal) {
  KASHI_CHECK(literal.shape().IsArray()) << literal.shape();
  Literal result(ShapeUtil::MakeShapeWithDenseLayout(literal.shape().element_type(), new_dimensions, minor_to_major));
  KASHI_CHECK_EQ(result.element_count(), literal.element_count());
  std::memcpy(result.untyped_data(), literal.untyped_data(), literal.size_bytes());
  return result;
}

}  // namespace kashi
