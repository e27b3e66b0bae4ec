// Attributes that belong to no dialect.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_util.h"
#include "kashi/stablehlo/text/mlir_numbers.h"
#include "kashi/stablehlo/text/mlir_reader.h"

namespace kashi::stablehlo {
namespace {

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool IsNumberByte(char c) { return text_cursor_internal::Is(c, text_cursor_internal::kInside); }

}  // namespace

// ---- Makers ---------------------------------------------------------------------------------------------------------

Attribute* MlirReader::NewAttribute(Attribute::Kind kind) {
  Attribute* attribute = program_.New<Attribute>();
  attribute->kind = kind;
  return attribute;
}

const Attribute* MlirReader::NewInteger(PrimitiveType element, int64_t value) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kInteger);
  attribute->type = defaults_.ElementType(element);
  attribute->integer = value;
  return attribute;
}

const Attribute* MlirReader::NewBool(bool value) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kBool);
  attribute->integer = value ? 1 : 0;
  return attribute;
}

const Attribute* MlirReader::NewText(Attribute::Kind kind, absl::string_view text) {
  Attribute* attribute = NewAttribute(kind);
  attribute->text = text;
  return attribute;
}

const Attribute* MlirReader::NewArray(absl::Span<const Attribute* const> elements) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kArray);
  attribute->elements = program_.CopyArray<const Attribute*>(elements);
  return attribute;
}

const Attribute* MlirReader::NewIntegers(absl::Span<const int64_t> values) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kTensor);
  attribute->type = IntegerListType(S64, static_cast<int64_t>(values.size()));
  attribute->is_splat =
      values.size() > 1 && std::count(values.begin(), values.end(), values[0]) == static_cast<int64_t>(values.size());
  const size_t bytes = (attribute->is_splat ? 1 : values.size()) * sizeof(int64_t);
  attribute->text = program_.CopyText(absl::string_view(reinterpret_cast<const char*>(values.data()), bytes));
  return attribute;
}

const Attribute* MlirReader::NewRecord(absl::string_view name, absl::Span<const NamedAttribute> fields) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kRecord);
  attribute->text = name;
  attribute->fields = program_.CopyArray<NamedAttribute>(fields);
  return attribute;
}

const Attribute* MlirReader::NewOther(size_t begin) { return NewText(Attribute::Kind::kOther, cursor_.Slice(begin)); }

// ---- Strings and integers -------------------------------------------------------------------------------------------

bool MlirReader::ReadString(absl::string_view* text) {
  const absl::string_view quoted = cursor_.ReadQuoted();
  if (quoted.empty()) return ErrorHere("a string");
  *text = quoted.substr(1, quoted.size() - 2);
  if (text->find('\\') == absl::string_view::npos) return true;
  std::string decoded;
  for (size_t i = 0; i < text->size(); ++i) {
    const char c = (*text)[i];
    if (c != '\\') {
      decoded.push_back(c);
      continue;
    }
    const size_t at = cursor_.offset() - quoted.size() + 1 + i;
    const char next = i + 1 < text->size() ? (*text)[i + 1] : '\0';
    const int high = HexValue(next);
    const int low = i + 2 < text->size() ? HexValue((*text)[i + 2]) : -1;
    if (high >= 0 && low >= 0) {
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
      continue;
    }
    if (next != '\\' && next != '"' && next != 'n' && next != 't') {
      return Error(at, at + 2, "an escape that MLIR does not have");
    }
    decoded.push_back(next == 'n' ? '\n' : next == 't' ? '\t' : next);
    ++i;
  }
  *text = program_.CopyText(decoded);
  return true;
}

bool MlirReader::ReadInt(int64_t* value) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  size_t end = begin + (cursor_.PeekHere() == '-' ? 1 : 0);
  while (end < cursor_.text().size() && IsNumberByte(cursor_.text()[end])) ++end;
  if (!ParseInteger(cursor_.text().substr(begin, end - begin), 64, true, value)) {
    return ErrorHere("an integer of 64 bits");
  }
  cursor_.Seek(end);
  return true;
}

// [1, 2]
const Attribute* MlirReader::ReadIntegers() {
  if (!Expect('[', "before integers")) return nullptr;
  absl::InlinedVector<int64_t, 8> values;
  if (cursor_.Peek() != ']') {
    do {
      int64_t value = 0;
      if (!ReadInt(&value)) return nullptr;
      values.push_back(value);
    } while (cursor_.Match(','));
  }
  return Expect(']', "after integers") ? NewIntegers(values) : nullptr;
}

const Attribute* MlirReader::ReadSymbol() {
  if (!cursor_.Match('@')) return ErrorHere("a symbol, `@name`"), nullptr;
  std::string joined;
  absl::string_view name;
  for (bool first = true; first || cursor_.Match("::@"); first = false) {
    if (cursor_.PeekHere() == '"') {
      if (!ReadString(&name)) return nullptr;
    } else {
      name = cursor_.ReadSuffix();
      if (name.empty()) return ErrorHere("a name after `@`"), nullptr;
    }
    joined = first ? std::string(name) : absl::StrCat(joined, "::@", name);
  }
  return NewText(Attribute::Kind::kSymbol, joined == name ? name : program_.CopyText(joined));
}

// ---- Numbers --------------------------------------------------------------------------------------------------------

const Attribute* MlirReader::NumberAttribute(absl::string_view token, size_t begin, const Type* type) {
  const bool is_index = type->kind == Type::Kind::kIndex;
  const PrimitiveType element = is_index ? S64 : type->kind == Type::Kind::kElement ? type->element : TOKEN;
  const bool is_float = element != TOKEN && primitive_util::IsFloatingPointType(element);
  uint64_t bits = 0;
  const bool known = element != TOKEN && !primitive_util::IsComplexType(element);
  if (!known || !ParseElementBits(token, element, &bits)) {
    Error(begin, begin + token.size(), absl::StrCat("`", token, "` is no value of its type"));
    return nullptr;
  }
  if (element == PRED) return NewBool(bits != 0);
  Attribute* attribute = NewAttribute(is_float ? Attribute::Kind::kFloat : Attribute::Kind::kInteger);
  attribute->type = type;
  attribute->integer = static_cast<int64_t>(bits);
  return attribute;
}

// The bytes of a number at `begin`: -1, 0x1F, 1.5e+3.
absl::string_view NumberToken(absl::string_view text, size_t begin) {
  size_t end = begin + (text[begin] == '-' ? 1 : 0);
  const bool is_hex = text.substr(end, 2) == "0x";
  while (end < text.size() && (IsNumberByte(text[end]) || (!is_hex && (text[end] == '+' || text[end] == '-') &&
                                                           (text[end - 1] == 'e' || text[end - 1] == 'E')))) {
    ++end;
  }
  return text.substr(begin, end - begin);
}

const Attribute* MlirReader::ReadNumber() {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const absl::string_view token = NumberToken(cursor_.text(), begin);
  cursor_.Seek(begin + token.size());
  const size_t after = cursor_.offset();
  if (cursor_.Match(':') && cursor_.PeekHere() != ':') {
    const Type* type = ReadType();
    return type == nullptr ? nullptr : NumberAttribute(token, begin, type);
  }
  cursor_.Seek(after);
  const bool is_float = token.find('.') != absl::string_view::npos;
  return NumberAttribute(token, begin, defaults_.ElementType(is_float ? F64 : S64));
}

const Attribute* MlirReader::ReadDouble() {
  if (cursor_.Peek() != '-' && !cursor_.AtDigit()) return ErrorHere("a number"), nullptr;
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const absl::string_view token = NumberToken(cursor_.text(), begin);
  cursor_.Seek(begin + token.size());
  return NumberAttribute(token, begin, defaults_.ElementType(F64));
}

// ---- Lists ----------------------------------------------------------------------------------------------------------

const Attribute* MlirReader::ReadArray() {
  cursor_.Match('[');
  absl::InlinedVector<const Attribute*, 8> elements;
  if (cursor_.Peek() != ']') {
    do {
      const Attribute* element = ReadAttribute();
      if (element == nullptr) return nullptr;
      elements.push_back(element);
    } while (cursor_.Match(','));
  }
  return Expect(']', "at the end of an array") ? NewArray(elements) : nullptr;
}

bool MlirReader::ReadDictionary(absl::InlinedVector<NamedAttribute, 8>* fields) {
  if (!Expect('{', "before attributes")) return false;
  if (cursor_.Match('}')) return true;
  do {
    NamedAttribute field;
    if (cursor_.Peek() == '"') {
      if (!ReadString(&field.name)) return false;
    } else {
      field.name = cursor_.ReadWord();
      if (field.name.empty()) return ErrorHere("the name of an attribute");
    }
    field.value = cursor_.Match('=') ? ReadAttribute() : NewAttribute(Attribute::Kind::kUnit);
    if (field.value == nullptr) return false;
    fields->push_back(field);
  } while (cursor_.Match(','));
  return Expect('}', "after attributes");
}

// array<i64: 1, 2>, in VHLO a tensor.
const Attribute* MlirReader::ReadDenseArray() {
  if (!Expect('<', "after `array`")) return nullptr;
  const Type* element = ReadType();
  if (element == nullptr) return nullptr;
  cursor_.Match(':');
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const size_t end = cursor_.text().find('>', begin);
  if (end == absl::string_view::npos) return Error(begin, begin, "this array is never closed"), nullptr;
  const absl::string_view numbers = cursor_.text().substr(begin, end - begin);
  const bool empty = numbers.find_first_not_of(" \n\t\r") == absl::string_view::npos;
  const int64_t count = empty ? 0 : 1 + std::count(numbers.begin(), numbers.end(), ',');
  Attribute* attribute = NewAttribute(Attribute::Kind::kTensor);
  attribute->type = TensorType(element, {count});
  if (!ParseElements(program_.CopyText(absl::StrCat("[", numbers, "]")), begin - 1, attribute)) return nullptr;
  cursor_.Seek(end + 1);
  return attribute;
}

// ---- Any attribute --------------------------------------------------------------------------------------------------

const Attribute* MlirReader::ReadWordAttribute() {
  const size_t begin = cursor_.offset();
  const absl::string_view word = cursor_.ReadWord();
  if (word == "true" || word == "false") return NewBool(word == "true");
  if (word == "unit") return NewAttribute(Attribute::Kind::kUnit);
  if (word == "dense") return ReadElements();
  if (word == "array") return ReadDenseArray();
  if (word == "dense_resource") return ReadDenseResource();
  if (word == "affine_map" || word == "affine_set" || word == "opaque" || word == "sparse" || word == "strided" ||
      word == "distinct") {
    if (word == "distinct" && cursor_.PeekHere() == '[' && !ReadIntegers()) return nullptr;
    if (!SkipBalanced()) return nullptr;
    if (cursor_.Match(':') && ReadType() == nullptr) return nullptr;
    return NewOther(begin);
  }
  cursor_.Seek(begin);
  if (word == "loc") {
    const Location* location = nullptr;
    return ReadOptionalLocation(&location) ? NewOther(begin) : nullptr;
  }
  const Type* type = ReadType();
  if (type == nullptr) return nullptr;
  Attribute* attribute = NewAttribute(Attribute::Kind::kType);
  attribute->type = type;
  return attribute;
}

const Attribute* MlirReader::ReadAttribute() {
  const Depth depth(this, kMaxDepth, &depth_);
  if (!depth.ok()) return nullptr;
  const char c = cursor_.Peek();
  if (c == '"') {
    absl::string_view text;
    if (!ReadString(&text)) return nullptr;
    if (cursor_.Match(':') && ReadType() == nullptr) return nullptr;
    return NewText(Attribute::Kind::kString, text);
  }
  if (c == '[') return ReadArray();
  if (c == '{') {
    absl::InlinedVector<NamedAttribute, 8> fields;
    if (!ReadDictionary(&fields)) return nullptr;
    std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    Attribute* attribute = NewAttribute(Attribute::Kind::kDictionary);
    attribute->fields = program_.CopyArray<NamedAttribute>(fields);
    return attribute;
  }
  if (c == '@') return ReadSymbol();
  if (c == '#') return ReadRecord();
  if (c == '-' || cursor_.AtDigit()) return ReadNumber();
  if (cursor_.AtWordStart() || c == '!' || c == '(') return ReadWordAttribute();
  ErrorHere("an attribute");
  return nullptr;
}

}  // namespace kashi::stablehlo
