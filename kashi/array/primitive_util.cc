// The run-time part of primitive_util.h.

#include "kashi/array/primitive_util.h"

#include <string>
#include <tuple>
#include <vector>

#include "kashi/base/check.h"
#include "kashi/base/status.h"

namespace kashi {
namespace primitive_util {

using primitive_type_internal::kInfos;

namespace internal {

void DieOfType(const char* function, PrimitiveType type) {
  const std::string& name = PrimitiveType_Name(type);
  KASHI_LOG_FATAL() << function << " does not take "
                    << (name.empty() ? "a number that is not a primitive type: " : name)
                    << (name.empty() ? std::to_string(type) : "");
  __builtin_unreachable();
}

}  // namespace internal

namespace {

// The format of a floating-point type; dies of others, in the name of the public function.
const FloatFormat& FormatOf(const char* function, PrimitiveType type) {
  if (!IsFloatingPointType(type)) internal::DieOfType(function, type);
  return GetPrimitiveTypeInfo(type).format;
}

// The type of the class with this number of bits; PRIMITIVE_TYPE_INVALID if there is none.
PrimitiveType FindType(PrimitiveClass type_class, int64_t bits) {
  for (const PrimitiveTypeInfo& info : kInfos) {
    if (info.type_class == type_class && info.bits == bits) return info.type;
  }
  return PRIMITIVE_TYPE_INVALID;
}

// The larger one wins, see HigherPrecisionType.
std::tuple<bool, int, int, int, bool> Precision(PrimitiveType type) {
  const PrimitiveType part = IsComplexType(type) ? ComplexComponentType(type) : type;
  const bool is_float = IsFloatingPointType(part);
  return {IsComplexType(type), is_float ? OverflowExponent(part) : -1, is_float ? SignificandWidth(part) : -1,
          BitWidth(part), IsSignedIntegralType(part)};
}

// Packing and unpacking both check that the packed size is exactly the size needed.
void CheckPackedSize(int bits, int64_t num_elements, int64_t packed_size) {
  KASHI_CHECK(bits >= 1 && bits <= 8) << "cannot pack elements of " << bits << " bits";
  KASHI_CHECK_EQ(packed_size, PackedByteSize(num_elements, bits))
      << "bytes for " << num_elements << " packed elements of " << bits << " bits";
}

int PackableBitWidth(const char* function, PrimitiveType type) {
  if (!IsArrayType(type) || BitWidth(type) > 8) internal::DieOfType(function, type);
  return BitWidth(type);
}

}  // namespace

PrimitiveType UnsignedIntegralTypeForBitWidth(int64_t bits) { return FindType(PrimitiveClass::kUnsigned, bits); }

PrimitiveType SignedIntegralTypeForBitWidth(int64_t bits) {
  return bits == 1 ? PRIMITIVE_TYPE_INVALID : FindType(PrimitiveClass::kSigned, bits);
}

PrimitiveType ComplexComponentType(PrimitiveType complex_type) {
  if (!IsComplexType(complex_type)) internal::DieOfType("ComplexComponentType", complex_type);
  return FindType(PrimitiveClass::kFloat, BitWidth(complex_type) / 2);
}

PrimitiveType ComplexType(PrimitiveType component_type) {
  if (!IsFloatingPointType(component_type)) return PRIMITIVE_TYPE_INVALID;
  return FindType(PrimitiveClass::kComplex, int64_t{2} * BitWidth(component_type));
}

int SignificandWidth(PrimitiveType type) { return FormatOf("SignificandWidth", type).mantissa_bits + 1; }
int ExponentWidth(PrimitiveType type) { return FormatOf("ExponentWidth", type).exponent_bits; }
int UnderflowExponent(PrimitiveType type) { return FormatOf("UnderflowExponent", type).min_exponent(); }
int OverflowExponent(PrimitiveType type) { return FormatOf("OverflowExponent", type).max_exponent(); }
int ExponentBias(PrimitiveType type) { return 2 - FormatOf("ExponentBias", type).min_exponent(); }

bool HasInfinity(PrimitiveType type) {
  return IsFloatingPointType(type) && GetPrimitiveTypeInfo(type).format.has_infinity();
}
bool HasNaN(PrimitiveType type) { return IsFloatingPointType(type) && GetPrimitiveTypeInfo(type).format.has_nan(); }
bool HasNegativeZero(PrimitiveType type) {
  return IsFloatingPointType(type) && GetPrimitiveTypeInfo(type).format.has_negative_zero();
}

PrimitiveType TryHigherPrecisionType(PrimitiveType a, PrimitiveType b) {
  if (!IsArrayType(a) || !IsArrayType(b)) return PRIMITIVE_TYPE_INVALID;
  const auto precision_a = Precision(a), precision_b = Precision(b);
  if (precision_a == precision_b) return a == b ? a : PRIMITIVE_TYPE_INVALID;
  return precision_a > precision_b ? a : b;
}

PrimitiveType HigherPrecisionType(PrimitiveType a, PrimitiveType b) {
  for (PrimitiveType type : {a, b}) {
    if (!IsArrayType(type)) internal::DieOfType("HigherPrecisionType", type);
  }
  const PrimitiveType result = TryHigherPrecisionType(a, b);
  KASHI_CHECK(result != PRIMITIVE_TYPE_INVALID)
      << "neither " << PrimitiveType_Name(a) << " nor " << PrimitiveType_Name(b) << " has the higher precision";
  return result;
}

bool FitsInIntegralType(int64_t x, PrimitiveType type) {
  if (!IsIntegralType(type)) internal::DieOfType("FitsInIntegralType", type);
  const int bits = BitWidth(type);
  if (IsSignedIntegralType(type)) return bits == 64 || (x >> (bits - 1)) == (x < 0 ? -1 : 0);
  return x >= 0 && (bits == 64 || (x >> bits) == 0);
}

const std::string& LowercasePrimitiveTypeName(PrimitiveType type) {
  static const std::vector<std::string>& names = *new std::vector<std::string>{
#define KASHI_TYPE(primitive, number, text, ...) text,
#include "kashi/array/primitive_types.def"
  };
  if (!PrimitiveType_IsValid(type)) internal::DieOfType("LowercasePrimitiveTypeName", type);
  return names[type];
}

absl::StatusOr<PrimitiveType> StringToPrimitiveType(absl::string_view name) {
  for (const PrimitiveTypeInfo& info : kInfos) {
    if (info.text == name && info.type != PRIMITIVE_TYPE_INVALID) return info.type;
  }
  return InvalidArgument("Invalid element type string: \"%s\".", name);
}

bool IsPrimitiveTypeName(absl::string_view name) {
  constexpr size_t kLongest = 13;  // f8e4m3b11fnuz
  if (name.size() > kLongest) return false;
  for (const PrimitiveTypeInfo& info : kInfos) {
    if (info.text == name && info.type != PRIMITIVE_TYPE_INVALID) return true;
  }
  return false;
}

void PackIntN(int bits, absl::Span<const char> elements, absl::Span<char> packed) {
  CheckPackedSize(bits, elements.size(), packed.size());
  const uint32_t mask = (1u << bits) - 1;
  uint32_t pending = 0;  // bits that wait for their byte to fill, in the lowest `num_pending`
  int num_pending = 0;
  char* out = packed.data();
  for (char element : elements) {
    pending |= (static_cast<uint8_t>(element) & mask) << num_pending;
    num_pending += bits;
    if (num_pending < 8) continue;
    *out++ = static_cast<char>(pending);
    pending >>= 8;
    num_pending -= 8;
  }
  if (num_pending > 0) *out = static_cast<char>(pending);
}

void UnpackIntN(int bits, absl::Span<const char> packed, absl::Span<char> elements) {
  CheckPackedSize(bits, elements.size(), packed.size());
  const uint32_t mask = (1u << bits) - 1;
  uint32_t pending = 0;
  int num_pending = 0;
  const char* in = packed.data();
  for (char& element : elements) {
    if (num_pending < bits) {
      pending |= uint32_t{static_cast<uint8_t>(*in++)} << num_pending;
      num_pending += 8;
    }
    element = static_cast<char>(pending & mask);
    pending >>= bits;
    num_pending -= bits;
  }
}

void PackIntN(PrimitiveType type, absl::Span<const char> elements, absl::Span<char> packed) {
  PackIntN(PackableBitWidth("PackIntN", type), elements, packed);
}

void UnpackIntN(PrimitiveType type, absl::Span<const char> packed, absl::Span<char> elements) {
  UnpackIntN(PackableBitWidth("UnpackIntN", type), packed, elements);
}

}  // namespace primitive_util
}  // namespace kashi
