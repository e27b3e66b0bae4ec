// Comparing literals, and questions about all of their elements.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/array/element_convert.h"
#include "kashi/base/math.h"
#include "kashi/base/util.h"
#include "kashi/literal/literal.h"

namespace kashi {

using array::ConvertElement;
using literal::CopyStrided;
using literal::ElementStrides;
using literal::WalkRows;
namespace {

using literal::LiteralPiece;
using primitive_util::NativeTypeOf;

template <typename T>
bool ValuesEqual(const LiteralPiece& a, const LiteralPiece& b, absl::Span<const int64_t> sizes) {
  const T* left = a.data<T>().data();
  const T* right = b.data<T>().data();
  const DimensionVector a_strides = ElementStrides(a.subshape()), b_strides = ElementStrides(b.subshape());
  if (a_strides == b_strides && a.subshape().is_static()) return std::equal(left, left + a.element_count(), right);
  const int64_t row = sizes.empty() ? 1 : sizes.back();
  const int64_t a_step = sizes.empty() ? 0 : a_strides.back(), b_step = sizes.empty() ? 0 : b_strides.back();
  return WalkRows(sizes, a_strides, b_strides, [&](int64_t a_position, int64_t b_position) {
    for (int64_t i = 0; i < row; ++i) {
      if (left[a_position + i * a_step] != right[b_position + i * b_step]) return false;
    }
    return true;
  });
}

// The bits that count of a byte that holds an element narrower than it. Those above the value may be anything.
std::optional<unsigned char> ValueMask(const LiteralPiece& piece) {
  const PrimitiveType type = piece.subshape().element_type();
  if (!primitive_util::IsSubByteNonPredType(type)) return std::nullopt;
  return static_cast<unsigned char>((1 << primitive_util::BitWidth(type)) - 1);
}

bool ElementsEqual(const LiteralPiece& a, const LiteralPiece& b) {
  if (a.subshape().is_static() && !ValueMask(a).has_value() && ShapeUtil::Equal(a.subshape(), b.subshape())) {
    return std::memcmp(a.memory(), b.memory(), a.size_bytes()) == 0;
  }
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) { return ValuesEqual<NativeTypeOf<type>>(a, b, a.current_sizes()); }, a.subshape().element_type());
}

bool PiecesEqual(const LiteralPiece& a, const LiteralPiece& b, bool layout_sensitive) {
  const Shape& shape = a.subshape();
  const Shape& other = b.subshape();
  if (shape.element_type() != other.element_type()) return false;
  if (!shape.IsArray() || !other.IsArray()) return true;
  if (shape.dimensions_size() != other.dimensions_size() || a.state() != b.state()) return false;
  if (layout_sensitive && shape.layout() != other.layout()) return false;
  if (a.current_sizes() != b.current_sizes()) return false;
  if (a.buffer() == nullptr && b.buffer() == nullptr) return true;
  return ElementsEqual(a, b);
}

// True if all elements are the same bytes. Comparing the array with itself, one element on, is as fast as memcmp.
bool AllAre(const LiteralPiece& piece, const char* element, int64_t bytes) {
  const int64_t total = piece.size_bytes();
  if (total == 0) return true;
  if (piece.buffer() == nullptr) return false;
  const char* memory = piece.memory();
  if (const std::optional<unsigned char> mask = ValueMask(piece)) {
    return std::all_of(memory, memory + total, [&](char c) { return ((c ^ *element) & *mask) == 0; });
  }
  return std::memcmp(memory, element, bytes) == 0 && std::memcmp(memory, memory + bytes, total - bytes) == 0;
}
template <typename T>
bool AllAre(const LiteralPiece& piece, T value) {
  return AllAre(piece, reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
bool IsNan(T x) {
  return x != x;
}

template <typename T>
int64_t CountValue(absl::Span<const T> elements, T value) {
  if (IsNan(value)) return std::count_if(elements.begin(), elements.end(), [](T x) { return IsNan(x); });
  return std::count(elements.begin(), elements.end(), value);
}

// The i-th number of an iota, where T has it.
template <typename T>
bool IsIota(absl::Span<const T> elements) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto number = static_cast<int64_t>(i);
    if constexpr (is_specialized_integral_v<T>) {
      if (static_cast<int64_t>(elements[i]) != number) return false;
    } else {
      if (elements[i] != ConvertElement<T>(number)) return false;
    }
  }
  return true;
}

}  // namespace

bool LiteralBase::Equal(const LiteralBase& other, bool layout_sensitive) const {
  std::vector<std::pair<const Piece*, const Piece*>> open = {{root_, other.root_}};
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    if (a->subshape().IsTuple() != b->subshape().IsTuple() || a->children().size() != b->children().size())
      return false;
    if (!a->subshape().IsTuple() && !PiecesEqual(*a, *b, layout_sensitive)) return false;
    for (size_t i = a->children().size(); i > 0; --i) open.push_back({&a->children()[i - 1], &b->children()[i - 1]});
  }
  return true;
}

std::vector<char> LiteralBase::RowMajorBytes(const Piece& piece, int64_t byte_limit) {
  const DimensionVector sizes = piece.current_sizes();
  const int element_bytes = primitive_util::ByteWidth(piece.subshape().element_type());
  const int64_t elements = Product(sizes);
  const int64_t wanted = std::min(elements * element_bytes, byte_limit);
  if (wanted == 0) return {};
  // The least number of steps of the major dimension that has the requested bytes.
  const int64_t rest = elements / (sizes.empty() ? 1 : sizes[0]);
  DimensionVector part = sizes;
  if (!part.empty()) part[0] = CeilOfRatio(wanted, rest * element_bytes);
  std::vector<char> bytes(Product(part) * element_bytes);
  const Shape row_major = ShapeUtil::MakeShapeWithDescendingLayout(piece.subshape().element_type(), part);
  CopyStrided(part, element_bytes, {piece.memory(), ElementStrides(piece.subshape())},
              {bytes.data(), ElementStrides(row_major)});
  bytes.resize(wanted);
  if (const std::optional<unsigned char> mask = ValueMask(piece)) {
    for (char& byte : bytes) byte = static_cast<char>(byte & *mask);
  }
  return bytes;
}

bool LiteralBase::IsAll(const Literal& scalar) const {
  KASHI_CHECK(ShapeUtil::IsScalar(scalar.shape())) << scalar.shape();
  if (!shape().IsArray()) return false;
  KASHI_CHECK(shape().element_type() == scalar.shape().element_type()) << shape() << " vs. " << scalar.shape();
  return AllAre(*root_, scalar.root_->memory(), scalar.size_bytes());
}

bool LiteralBase::IsAll(int8_t value) const {
  if (!shape().IsArray()) return false;
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) {
        using NativeT = NativeTypeOf<type>;
        const NativeT element = ConvertElement<NativeT>(value);
        if constexpr (primitive_util::IsComplexType(type)) {
          return AllAre(*root_, element);
        } else if constexpr (primitive_util::IsFloatingPointType(type)) {
          return static_cast<double>(element) == value && AllAre(*root_, element);
        } else {
          const bool is_exact = type == U64 ? value >= 0 : static_cast<int64_t>(element) == value;
          return is_exact && AllAre(*root_, element);
        }
      },
      shape().element_type());
}

bool LiteralBase::IsAllFloat(float value) const {
  if (!primitive_util::IsFloatingPointType(shape().element_type())) return false;
  return primitive_util::FloatingPointTypeSwitch(
      [&](auto type) { return AllAre(*root_, ConvertElement<NativeTypeOf<type>>(value)); }, shape().element_type());
}

bool LiteralBase::IsAllComplex(complex64 value) const {
  if (!primitive_util::IsComplexType(shape().element_type())) return false;
  return primitive_util::ComplexTypeSwitch(
      [&](auto type) { return AllAre(*root_, ConvertElement<NativeTypeOf<type>>(value)); }, shape().element_type());
}

bool LiteralBase::IsAllFirst() const {
  if (!shape().IsArray() || element_count() == 0 || !IsKnown()) return false;
  return AllAre(*root_, root_->memory(), primitive_util::ByteWidth(shape().element_type()));
}

bool LiteralBase::IsR1Iota() const {
  if (!shape().IsArray() || shape().dimensions_size() != 1 || shape().element_type() == PRED || !IsKnown())
    return false;
  return primitive_util::ArrayTypeSwitch([&](auto type) { return IsIota(data<NativeTypeOf<type>>()); },
                                         shape().element_type());
}

std::optional<int64_t> LiteralBase::IsR1StridedIota() const {
  if (!shape().IsArray() || shape().dimensions_size() != 1 || element_count() < 2 || !IsKnown()) return std::nullopt;
  if (!primitive_util::IsIntegralType(shape().element_type())) return std::nullopt;
  return primitive_util::IntegralTypeSwitch(
      [&](auto type) -> std::optional<int64_t> {
        const auto elements = data<NativeTypeOf<type>>();
        const int64_t stride = static_cast<int64_t>(elements[1]);
        if (stride == 0) return std::nullopt;
        for (size_t i = 0; i < elements.size(); ++i) {
          const std::optional<int64_t> expected = CheckedMultiply(static_cast<int64_t>(i), stride);
          if (expected != static_cast<int64_t>(elements[i])) return std::nullopt;
        }
        return stride;
      },
      shape().element_type());
}

int64_t LiteralBase::CountEqualTo(const CountedValue& value) const {
  if (!shape().IsArray()) return 0;
  return primitive_util::ArrayTypeSwitch(
      [&](auto type) -> int64_t {
        using NativeT = NativeTypeOf<type>;
        const absl::Span<const NativeT> elements = data<NativeT>();
        switch (value.kind) {
          case CountedValue::kSigned:
            return CountValue(elements, ConvertElement<NativeT>(value.signed_value));
          case CountedValue::kUnsigned:
            return CountValue(elements, ConvertElement<NativeT>(value.unsigned_value));
          case CountedValue::kReal:
            return CountValue(elements, ConvertElement<NativeT>(value.real));
          case CountedValue::kComplex:
            if constexpr (is_complex_v<NativeT>) return CountValue(elements, ConvertElement<NativeT>(value.complex));
            return 0;
        }
        return 0;
      },
      shape().element_type());
}

}  // namespace kashi
