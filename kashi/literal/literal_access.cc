// Single elements of a literal of any type.
#include <limits>

#include "kashi/array/element_convert.h"
#include "kashi/literal/literal.h"

namespace kashi {

using array::ConvertElement;
using literal::ElementStrides;
using literal::WalkRowMajor;

using primitive_util::NativeTypeOf;

std::optional<int64_t> LiteralBase::GetFirstInteger() const {
  if (!primitive_util::IsIntegralType(shape().element_type()) || element_count() == 0) return std::nullopt;
  return primitive_util::IntegralTypeSwitch(
      [&](auto type) -> std::optional<int64_t> {
        const auto first = GetFirstElement<NativeTypeOf<type>>();
        if constexpr (type == U64) {
          if (first > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::nullopt;
        }
        return static_cast<int64_t>(first);
      },
      shape().element_type());
}

std::optional<int64_t> LiteralBase::GetIntegralAsS64(absl::Span<const int64_t> multi_index) const {
  const PrimitiveType element_type = shape().element_type();
  if (!primitive_util::IsIntegralType(element_type) && element_type != PRED) return std::nullopt;
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) -> std::optional<int64_t> {
        if constexpr (primitive_util::IsIntegralType(type) || type == PRED) {
          return static_cast<int64_t>(Get<NativeTypeOf<type>>(multi_index));
        }
        return std::nullopt;
      },
      element_type);
}

std::optional<double> LiteralBase::GetAsDouble(absl::Span<const int64_t> multi_index) const {
  if (!primitive_util::IsFloatingPointType(shape().element_type())) return std::nullopt;
  return primitive_util::FloatingPointTypeSwitch(
      [&](auto type) { return static_cast<double>(Get<NativeTypeOf<type>>(multi_index)); }, shape().element_type());
}

std::optional<complex128> LiteralBase::GetAsComplex128(absl::Span<const int64_t> multi_index) const {
  if (!primitive_util::IsArrayType(shape().element_type())) return std::nullopt;
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) -> std::optional<complex128> {
        if constexpr (type == S64 || type == U64 || type == PRED) {
          return std::nullopt;
        } else {
          return ConvertElement<complex128>(Get<NativeTypeOf<type>>(multi_index));
        }
      },
      shape().element_type());
}

std::optional<double> LiteralBase::GetSumAsDouble(absl::Span<const int64_t> linear_indices) const {
  if (!primitive_util::IsFloatingPointType(shape().element_type())) return std::nullopt;
  return primitive_util::FloatingPointTypeSwitch(
      [&](auto type) {
        const auto elements = data<NativeTypeOf<type>>();
        double sum = 0;
        for (int64_t i : linear_indices) sum += static_cast<double>(elements[i]);
        return sum;
      },
      shape().element_type());
}

bool LiteralBase::IsEqualAt(absl::Span<const int64_t> multi_index, complex128 value) const {
  if (const std::optional<int64_t> integer = GetIntegralAsS64(multi_index)) {
    return static_cast<double>(*integer) == value.real() && value.imag() == 0;
  }
  const std::optional<complex128> element = GetAsComplex128(multi_index);
  KASHI_CHECK(element.has_value()) << shape();
  return *element == value;
}

bool LiteralBase::IsZero(absl::Span<const int64_t> multi_index) const { return IsEqualAt(multi_index, 0); }

void LiteralBase::EachCellAsString(
    absl::FunctionRef<void(absl::Span<const int64_t> indices, const std::string& value)> per_cell) const {
  WalkRowMajor(shape().dimensions(), ElementStrides(shape()), [&](absl::Span<const int64_t> index, int64_t) {
    per_cell(index, GetAsString(index));
    return true;
  });
}

std::string LiteralBase::GetR1U8AsString() const {
  KASHI_CHECK(shape().IsArray() && shape().dimensions_size() == 1) << shape();
  const absl::Span<const uint8_t> bytes = data<uint8_t>();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::Status MutableLiteralBase::SetIntegralAsS64(absl::Span<const int64_t> multi_index, int64_t value) {
  const PrimitiveType element_type = shape().element_type();
  if (!primitive_util::IsIntegralType(element_type) && element_type != PRED) {
    return FailedPrecondition("Array element type is not integral: %s", PrimitiveType_Name(element_type));
  }
  primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        if constexpr (primitive_util::IsIntegralType(type) || type == PRED) {
          using NativeT = NativeTypeOf<type>;
          Set<NativeT>(multi_index, ConvertElement<NativeT>(value));
        }
      },
      element_type);
  return absl::OkStatus();
}

absl::Status MutableLiteralBase::SetFromDouble(absl::Span<const int64_t> multi_index, double value) {
  const PrimitiveType element_type = shape().element_type();
  if (!primitive_util::IsFloatingPointType(element_type) && !primitive_util::IsComplexType(element_type)) {
    return FailedPrecondition("Array element type is not floating: %s", PrimitiveType_Name(element_type));
  }
  primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using NativeT = NativeTypeOf<type>;
        if constexpr (primitive_util::IsFloatingPointType(type) || primitive_util::IsComplexType(type)) {
          Set<NativeT>(multi_index, ConvertElement<NativeT>(value));
        }
      },
      element_type);
  return absl::OkStatus();
}

}  // namespace kashi
