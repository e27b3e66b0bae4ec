// dense<…>: nested lists, a splat, hexadecimal digits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/text.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/type_text.h"
#include "kashi/stablehlo/text/mlir_numbers.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {

namespace {

PrimitiveType NumberType(const Type& tensor) {
  const Type& element = *tensor.types[0];
  if (element.kind == Type::Kind::kIndex) return S64;
  if (element.kind == Type::Kind::kQuantized) return element.quantization->storage->element;
  return element.kind == Type::Kind::kElement ? element.element : PRIMITIVE_TYPE_INVALID;
}

bool AllEqual(absl::string_view bytes, size_t element) {
  return bytes.size() > element && std::memcmp(bytes.data(), bytes.data() + element, bytes.size() - element) == 0;
}

constexpr uint8_t kNoDigit = 0xff;
constexpr std::array<uint8_t, 256> MakeHexDigits() {
  std::array<uint8_t, 256> digits = {};
  for (uint8_t& digit : digits) digit = kNoDigit;
  for (int i = 0; i < 10; ++i) digits['0' + i] = static_cast<uint8_t>(i);
  for (int i = 0; i < 6; ++i) digits['a' + i] = digits['A' + i] = static_cast<uint8_t>(10 + i);
  return digits;
}
constexpr std::array<uint8_t, 256> kHexDigits = MakeHexDigits();

// Walks the numbers of a literal and checks that its lists have the shape of the type.
class ElementScanner {
 public:
  ElementScanner(absl::string_view literal, const Type& type) : text_(literal), type_(type) {
    element_ = NumberType(type);
    is_complex_ = primitive_util::IsComplexType(element_);
    part_ = element_ == C64 ? F32 : element_ == C128 ? F64 : element_;
    part_bytes_ = static_cast<size_t>(primitive_util::ByteWidth(part_));
  }
  // Empty message: all is well.
  std::string Scan() {
    if (Peek() != '[') return Peek() == '\0' ? "" : Number();
    absl::InlinedVector<int64_t, 8> counts;  // elements so far of each open list
    do {
      const char c = Peek();
      if (c == '[') {
        if (counts.size() >= type_.dimensions.size()) return "more nested lists than the type has dimensions";
        counts.push_back(0);
        ++at_;
        continue;
      }
      if (c == ']') {
        if (counts.back() != type_.dimensions[counts.size() - 1]) return WrongCount(counts);
        counts.pop_back();
        ++at_;
      } else {
        if (counts.size() != type_.dimensions.size()) return "fewer nested lists than the type has dimensions";
        const std::string error = Number();
        if (!error.empty()) return error;
      }
      if (!counts.empty()) ++counts.back();
      if (Peek() == ',') {
        ++at_;
        if (Peek() == ']') return "expected an element after `,`";
      } else if (Peek() != ']' && !counts.empty()) {
        return "expected `,` or `]`";
      }
    } while (!counts.empty());
    return Peek() == '\0' ? "" : "expected `>` after the elements";
  }
  size_t offset() const { return at_; }
  const std::string& bytes() const { return bytes_; }
  size_t element_bytes() const { return part_bytes_ * (is_complex_ ? 2 : 1); }

 private:
  std::string WrongCount(const absl::InlinedVector<int64_t, 8>& counts) const {
    return absl::StrCat(base::Count(counts.back(), "element"), " where the type has ",
                        type_.dimensions[counts.size() - 1]);
  }
  char Peek() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      ++at_;
    }
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  std::string Number() {
    if (!is_complex_) return Part();
    if (!Take('(')) return "expected `(` of a complex number";
    std::string error = Part();
    if (!error.empty()) return error;
    if (!Take(',')) return "expected `,` in a complex number";
    error = Part();
    if (!error.empty()) return error;
    return Take(')') ? "" : "expected `)` of a complex number";
  }
  std::string Part() {
    Peek();
    const size_t end = std::min(text_.find_first_of(" \n\t\r,])", at_), text_.size());
    const absl::string_view token = text_.substr(at_, end - at_);
    uint64_t bits = 0;
    if (!ParseElementBits(token, part_, &bits)) {
      return absl::StrCat("`", token.substr(0, 40), "` is no value of type ", ElementTypeText(part_));
    }
    bytes_.append(reinterpret_cast<const char*>(&bits), part_bytes_);
    at_ = end;
    return "";
  }

  absl::string_view text_;
  const Type& type_;
  PrimitiveType element_;
  PrimitiveType part_;
  bool is_complex_ = false;
  size_t part_bytes_ = 0;
  size_t at_ = 0;
  std::string bytes_;
};

}  // namespace

// Reads from after `dense`. The type is behind the elements, so they are found first and read afterwards.
const Attribute* MlirReader::ReadElements() {
  if (!Expect('<', "after `dense`")) return nullptr;
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  absl::string_view literal;
  if (cursor_.PeekHere() == '"') {
    literal = cursor_.ReadQuoted();
    if (literal.empty()) return ErrorHere("a string that ends on its line"), nullptr;
  } else {
    const size_t end = cursor_.text().find('>', begin);
    if (end == absl::string_view::npos) return Error(begin, begin, "this `dense<` is never closed"), nullptr;
    literal = cursor_.text().substr(begin, end - begin);
    cursor_.Seek(end);
  }
  if (!Expect('>', "after the elements") || !Expect(':', "before the type of the elements")) return nullptr;
  cursor_.SkipSpace();
  const size_t type_begin = cursor_.offset();
  const Type* type = ReadType();
  if (type == nullptr) return nullptr;
  if (type->kind != Type::Kind::kTensor || NumberType(*type) == PRIMITIVE_TYPE_INVALID ||
      !ElementCount(*type).has_value()) {
    Error(type_begin, cursor_.offset(), "elements need a tensor type whose sizes are known, of numbers");
    return nullptr;
  }
  Attribute* attribute = NewAttribute(Attribute::Kind::kTensor);
  attribute->type = type;
  const bool ok = !literal.empty() && literal[0] == '"'
                      ? ParseHexElements(literal.substr(1, literal.size() - 2), begin + 1, attribute)
                      : ParseElements(literal, begin, attribute);
  return ok ? attribute : nullptr;
}

bool MlirReader::ParseElements(absl::string_view literal, size_t begin, Attribute* attribute) {
  const Type& type = *attribute->type;
  if (NumberType(type) == PRIMITIVE_TYPE_INVALID)
    return Error(begin, begin + 1, "elements of this type are not numbers");
  ElementScanner scanner(literal, type);
  const std::string error = scanner.Scan();
  if (!error.empty()) return Error(begin + scanner.offset(), begin + scanner.offset() + 1, error);
  const int64_t count = *ElementCount(type);
  const int64_t found = static_cast<int64_t>(scanner.bytes().size() / scanner.element_bytes());
  if (found != count && found != 1) {
    return Error(begin, begin + literal.size(),
                 absl::StrCat(base::Count(found, "element"), " for a tensor of ", count));
  }
  attribute->is_splat = count > 1 && (found == 1 || AllEqual(scanner.bytes(), scanner.element_bytes()));
  absl::string_view bytes = scanner.bytes();
  if (count == 0) bytes = absl::string_view();
  attribute->text = program_.CopyText(attribute->is_splat ? bytes.substr(0, scanner.element_bytes()) : bytes);
  return true;
}

// "0x…", two digits a byte, little-endian elements in row-major order; one element: a splat.
bool MlirReader::ParseHexElements(absl::string_view digits, size_t begin, Attribute* attribute) {
  if (digits.substr(0, 2) != "0x" || digits.size() % 2 != 0) {
    return Error(begin, begin + 1, "expected `0x` and an even number of hexadecimal digits");
  }
  digits.remove_prefix(2);
  const size_t size = digits.size() / 2;
  absl::Span<char> bytes = program_.NewArray<char>(size);
  uint8_t wrong = 0;
  for (size_t i = 0; i < size; ++i) {
    const uint8_t high = kHexDigits[static_cast<uint8_t>(digits[2 * i])];
    const uint8_t low = kHexDigits[static_cast<uint8_t>(digits[2 * i + 1])];
    wrong |= (high | low) & 0x80;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  if (wrong != 0) return Error(begin, begin + 2 + digits.size(), "this string has bytes that are no hexadecimal digit");
  const absl::string_view text(bytes.data(), size);
  const int64_t count = *ElementCount(*attribute->type);
  if (NumberType(*attribute->type) == PRED)
    return UnpackBools(text, attribute, count) || Error(begin, begin + 2, "the string does not fit the type");
  const size_t element = static_cast<size_t>(ElementBytes(*attribute->type->types[0]));
  const bool fits =
      element != 0 && (size == element || size / element == static_cast<size_t>(count)) && size % element == 0;
  if (!fits)
    return Error(begin, begin + 2,
                 absl::StrCat(base::Count(static_cast<int64_t>(size), "byte"), " for a tensor of ",
                              base::Count(count, "element")));
  attribute->is_splat = count > 1 && (size == element || AllEqual(text, element));
  attribute->text = attribute->is_splat ? text.substr(0, element) : count == 0 ? absl::string_view() : text;
  return true;
}

// One byte: a splat. A byte each, or a bit each. False: neither.
bool MlirReader::UnpackBools(absl::string_view bytes, Attribute* attribute, int64_t count) {
  const size_t n = static_cast<size_t>(count);
  if (bytes.size() != 1 && bytes.size() != n && bytes.size() != n / 8 + (n % 8 != 0 ? 1 : 0)) return false;
  if (bytes.size() == 1) {
    attribute->is_splat = count > 1;
    attribute->text = program_.CopyText(absl::string_view((bytes[0] & 1) != 0 ? "\1" : "\0", 1));
    return true;
  }
  absl::Span<char> unpacked = program_.NewArray<char>(n);
  for (size_t i = 0; i < n; ++i) {
    unpacked[i] = static_cast<char>(bytes.size() == n ? bytes[i] & 1 : bytes[i / 8] >> (i % 8) & 1);
  }
  attribute->text = absl::string_view(unpacked.data(), n);
  attribute->is_splat = AllEqual(attribute->text, 1);
  if (attribute->is_splat) attribute->text = attribute->text.substr(0, 1);
  return true;
}

const Attribute* MlirReader::ReadDenseResource() {
  if (!Expect('<', "after `dense_resource`")) return nullptr;
  cursor_.SkipSpace();
  ResourceUse use;
  use.begin = cursor_.offset();
  use.name = cursor_.ReadSuffix();
  use.end = cursor_.offset();
  if (use.name.empty()) return ErrorHere("the name of a resource"), nullptr;
  if (!Expect('>', "after the name of a resource") || !Expect(':', "before the type of a resource")) return nullptr;
  const Type* type = ReadType();
  if (type == nullptr) return nullptr;
  if (type->kind != Type::Kind::kTensor || !ElementCount(*type).has_value() || ElementBytes(*type->types[0]) == 0) {
    Error(use.begin, use.end, "a resource needs a tensor type whose sizes are known, of numbers");
    return nullptr;
  }
  use.attribute = NewAttribute(Attribute::Kind::kTensor);
  use.attribute->type = type;
  resource_uses_.push_back(use);
  return use.attribute;
}

}  // namespace kashi::stablehlo
