#include "kashi/stablehlo/program/attribute_access.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

absl::Status Expected(absl::string_view what) { return InvalidArgument("expected %s", what); }

// One integer of `width` bytes at `bytes`, little-endian.
int64_t IntegerAt(const char* bytes, size_t width, bool is_signed) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, width);
  if (width == sizeof(bits)) return static_cast<int64_t>(bits);
  const int shift = static_cast<int>(64 - 8 * width);
  return is_signed ? static_cast<int64_t>(bits << shift) >> shift : static_cast<int64_t>(bits);
}

// The form of the elements of a tensor of integers.
struct IntegerElements {
  int64_t count = 0;
  size_t width = 0;
  bool is_signed = true;
};

absl::StatusOr<IntegerElements> FindIntegers(const Attribute& attribute, absl::string_view what) {
  if (attribute.kind != Attribute::Kind::kTensor) return Expected(what);
  const Type& element = *attribute.type->types[0];
  const bool is_index = element.kind == Type::Kind::kIndex;
  const bool is_integer = element.kind == Type::Kind::kElement &&
                          (element.element == PRED || primitive_util::IsIntegralType(element.element));
  const std::optional<int64_t> count = ElementCount(*attribute.type);
  if (!count.has_value() || !(is_index || is_integer)) return Expected(what);
  if (*count > kLargestList) {
    return InvalidArgument("a list of %d elements is too long: the limit is %d", *count, kLargestList);
  }
  const bool is_signed = is_index || primitive_util::IsSignedIntegralType(element.element);
  return IntegerElements{*count, static_cast<size_t>(ElementBytes(element)), is_signed};
}

absl::StatusOr<std::vector<int64_t>> ReadTensor(const Attribute& attribute, absl::string_view what) {
  KASHI_ASSIGN_OR_RETURN(const IntegerElements elements, FindIntegers(attribute, what));
  std::vector<int64_t> values;
  values.reserve(static_cast<size_t>(elements.count));
  const size_t step = attribute.is_splat ? 0 : elements.width;
  const char* bytes = attribute.text.data();
  for (int64_t i = 0; i < elements.count; ++i, bytes += step) {
    values.push_back(IntegerAt(bytes, elements.width, elements.is_signed));
  }
  return values;
}

}  // namespace

std::optional<int64_t> ElementCount(const Type& tensor) {
  int64_t count = 1;
  bool is_empty = false;
  bool overflows = false;
  for (const int64_t dimension : tensor.dimensions) {
    if (dimension < 0) return std::nullopt;
    is_empty = is_empty || dimension == 0;
    overflows = overflows || __builtin_mul_overflow(count, dimension, &count);
  }
  if (is_empty) return 0;
  if (overflows) return std::nullopt;
  return count;
}

int64_t ElementBytes(const Type& element) {
  if (element.kind == Type::Kind::kIndex) return sizeof(int64_t);
  if (element.kind != Type::Kind::kElement || !primitive_util::IsArrayType(element.element)) return 0;
  return primitive_util::ByteWidth(element.element);
}

absl::StatusOr<const Attribute*> FindAttribute(const Operation& operation, absl::string_view name) {
  const Attribute* attribute = operation.Find(name);
  if (attribute == nullptr) return InvalidArgument("%s has no attribute %s", operation.name, name);
  return attribute;
}

const Attribute* FindField(const Attribute& attribute, absl::string_view name) {
  for (const NamedAttribute& field : attribute.fields) {
    if (field.name == name) return field.value;
  }
  return nullptr;
}

absl::StatusOr<bool> ReadBool(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kBool) return Expected("true or false");
  return attribute.integer != 0;
}

absl::StatusOr<int64_t> ReadInt64(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kInteger && attribute.kind != Attribute::Kind::kBool) {
    return Expected("an integer");
  }
  return attribute.integer;
}

absl::StatusOr<double> ReadDouble(const Attribute& attribute) {
  const Type* type = attribute.type;
  if (attribute.kind != Attribute::Kind::kFloat || type->kind != Type::Kind::kElement) return Expected("a number");
  switch (type->element) {
    case F64:
      return absl::bit_cast<double>(attribute.integer);
    case F32:
      return absl::bit_cast<float>(static_cast<uint32_t>(attribute.integer));
    case F16:
      return static_cast<double>(absl::bit_cast<half>(static_cast<uint16_t>(attribute.integer)));
    case BF16:
      return static_cast<double>(absl::bit_cast<bfloat16>(static_cast<uint16_t>(attribute.integer)));
    default:
      return InvalidArgument("expected a number of type f64, f32, f16 or bf16, got %s", TypeText(*type));
  }
}

absl::StatusOr<absl::string_view> ReadString(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kString && attribute.kind != Attribute::Kind::kSymbol &&
      attribute.kind != Attribute::Kind::kEnum) {
    return Expected("a string");
  }
  return attribute.text;
}

absl::StatusOr<const Type*> ReadType(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kType) return Expected("a type");
  return attribute.type;
}

absl::StatusOr<std::vector<int64_t>> ReadInt64List(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kArray) return ReadTensor(attribute, "a list of integers");
  std::vector<int64_t> values;
  values.reserve(attribute.elements.size());
  for (const Attribute* element : attribute.elements) {
    KASHI_ASSIGN_OR_RETURN(const int64_t value, ReadInt64(*element));
    values.push_back(value);
  }
  return values;
}

absl::StatusOr<std::vector<bool>> ReadBoolList(const Attribute& attribute) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadTensor(attribute, "a list of true and false"));
  return std::vector<bool>(values.begin(), values.end());
}

absl::StatusOr<std::vector<absl::string_view>> ReadStringList(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kArray) return Expected("a list of strings");
  std::vector<absl::string_view> values;
  values.reserve(attribute.elements.size());
  for (const Attribute* element : attribute.elements) {
    KASHI_ASSIGN_OR_RETURN(const absl::string_view value, ReadString(*element));
    values.push_back(value);
  }
  return values;
}

absl::StatusOr<std::vector<std::pair<int64_t, int64_t>>> ReadPairs(const Attribute& attribute) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadTensor(attribute, "a list of pairs of integers"));
  const absl::Span<const int64_t> dimensions = attribute.type->dimensions;
  if (!values.empty() && (dimensions.size() != 2 || dimensions[1] != 2)) return Expected("a list of pairs of integers");
  std::vector<std::pair<int64_t, int64_t>> pairs;
  pairs.reserve(values.size() / 2);
  for (size_t i = 0; i < values.size(); i += 2) pairs.emplace_back(values[i], values[i + 1]);
  return pairs;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> ReadRows(const Attribute& attribute) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<int64_t> values, ReadTensor(attribute, "rows of integers"));
  std::vector<std::vector<int64_t>> rows;
  if (values.empty()) return rows;
  const absl::Span<const int64_t> dimensions = attribute.type->dimensions;
  if (dimensions.size() != 2) return Expected("rows of integers");
  for (auto row = values.begin(); row != values.end(); row += dimensions[1]) {
    rows.emplace_back(row, row + dimensions[1]);
  }
  return rows;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> ReadInt64Lists(const Attribute& attribute) {
  if (attribute.kind != Attribute::Kind::kArray) return Expected("lists of integers");
  std::vector<std::vector<int64_t>> lists;
  lists.reserve(attribute.elements.size());
  for (const Attribute* element : attribute.elements) {
    KASHI_ASSIGN_OR_RETURN(std::vector<int64_t> list, ReadInt64List(*element));
    lists.push_back(std::move(list));
  }
  return lists;
}

}  // namespace kashi::stablehlo
