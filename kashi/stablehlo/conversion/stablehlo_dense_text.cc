// The elements of constants as text.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/conversion/stablehlo_attribute_text.h"

namespace kashi::stablehlo {
namespace {

// Beyond this number of elements, hexadecimal digits are shorter and faster to read.
constexpr int64_t kMostNumbers = 32;

template <typename T>
T Load(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// MLIR wants a point in a decimal number: 1.5e+00.
std::string DecimalText(double value, int digits) {
  std::string text = absl::StrFormat("%.*e", digits, value);
  const size_t exponent = text.find('e');
  size_t end = exponent;
  while (end > 0 && text[end - 1] == '0' && text[end - 2] != '.') --end;
  return text.erase(end, exponent - end);
}

std::string BitsText(const char* bytes, int64_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(size));
  return absl::StrFormat("0x%0*X", static_cast<int>(2 * size), bits);
}

std::string FloatText(PrimitiveType type, const char* bytes, int64_t size) {
  // So many digits determine the number, and are far enough from the middle between two for a reader to round twice.
  constexpr int kDigits32 = 8;
  constexpr int kDigits64 = 16;
  const bool is_wide = type == F64;
  double value = 0;
  if (type == F64) value = Load<double>(bytes);
  if (type == F32) value = Load<float>(bytes);
  if (type == F16) value = static_cast<float>(Load<half>(bytes));
  if (type == BF16) value = static_cast<float>(Load<bfloat16>(bytes));
  if (size == 1 || !std::isfinite(value)) return BitsText(bytes, size);
  return DecimalText(value, is_wide ? kDigits64 : kDigits32);
}

// Integers of fewer than eight bits have a byte each.
std::string IntegerText(PrimitiveType type, const char* bytes, int64_t size) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, static_cast<size_t>(size));
  const int unused = 64 - primitive_util::BitWidth(type);
  bits <<= unused;
  if (primitive_util::IsUnsignedIntegralType(type)) return absl::StrCat(bits >> unused);
  return absl::StrCat(static_cast<int64_t>(bits) >> unused);
}

std::string ElementText(PrimitiveType type, const char* bytes, int64_t size) {
  if (type == PRED) return *bytes != 0 ? "true" : "false";
  if (primitive_util::IsComplexType(type)) {
    const PrimitiveType part = type == C64 ? F32 : F64;
    return absl::StrCat("(", FloatText(part, bytes, size / 2), ",", FloatText(part, bytes + size / 2, size / 2), ")");
  }
  return primitive_util::IsIntegralType(type) ? IntegerText(type, bytes, size) : FloatText(type, bytes, size);
}

}  // namespace

std::string NestedListsText(absl::Span<const int64_t> dimensions, absl::FunctionRef<std::string(int64_t)> element) {
  std::string text;
  const size_t rank = dimensions.size();
  int64_t count = 1;
  for (const int64_t size : dimensions) count *= size;
  for (int64_t i = 0; i < count; ++i) {
    // The number of lists that begin here: one for each dimension whose inner part has been written.
    size_t lists = 0;
    for (int64_t inner = 1; lists < rank; ++lists) {
      inner *= dimensions[rank - 1 - lists];
      if (i % inner != 0) break;
    }
    if (i > 0) absl::StrAppend(&text, std::string(lists, ']'), ", ");
    absl::StrAppend(&text, std::string(lists, '['), element(i));
  }
  return text.append(rank, ']');
}

absl::StatusOr<std::string> DenseText(const LiteralBase& literal) {
  const Shape& shape = literal.shape();
  const PrimitiveType type = shape.element_type();
  KASHI_ASSIGN_OR_RETURN(const std::string type_text, TypeTextOfShape(shape));
  const int64_t count = ShapeUtil::ElementsIn(shape);
  if (count == 0) return absl::StrCat("dense<> : ", type_text);
  const char* bytes = static_cast<const char*>(literal.untyped_data());
  const int64_t total = literal.size_bytes();
  const int64_t size = total / count;
  const bool is_splat =
      std::memcmp(bytes, bytes + size, static_cast<size_t>(total - size)) == 0;  // each element equals the next
  std::string elements;
  if (is_splat) {
    elements = ElementText(type, bytes, size);
  } else if (count > kMostNumbers && primitive_util::BitWidth(type) >= 8) {
    // MLIR packs the bits of i1 and of narrow integers, so that those stay lists.
    elements = absl::StrCat("\"0x", absl::BytesToHexString(absl::string_view(bytes, static_cast<size_t>(total))), "\"");
  } else {
    elements =
        NestedListsText(shape.dimensions(), [&](int64_t i) { return ElementText(type, bytes + i * size, size); });
  }
  return absl::StrCat("dense<", elements, "> : ", type_text);
}

}  // namespace kashi::stablehlo
