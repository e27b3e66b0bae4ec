#include "kashi/stablehlo/bytecode/entry_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/program/attribute_access.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

// Stand-ins for references that are not decoded yet.
constexpr Attribute kMissingAttribute = {};
constexpr Type kMissingType = {};
constexpr Location kMissingLocation = {};

// Widths of types that PrimitiveType does not have, and of index.
struct WidthRow {
  absl::string_view name;
  int width;
};
constexpr WidthRow kWidths[] = {{"tf32", 19}, {"f6E2M3FN", 6}, {"f6E3M2FN", 6}, {"f80", 80}, {"f128", 128}, {"i3", 3}};

// 0: values of the type have no bits.
int WidthOf(const Type& type) {
  if (type.kind == Type::Kind::kIndex) return 64;
  if (type.kind == Type::Kind::kElement && primitive_util::IsArrayType(type.element)) {
    return primitive_util::BitWidth(type.element);
  }
  for (const WidthRow& row : kWidths) {
    if (row.name == type.name) return row.width;
  }
  return 0;
}

bool IsSignedInteger(const Type& type) {
  return type.kind == Type::Kind::kIndex ||
         (type.kind == Type::Kind::kElement && primitive_util::IsSignedIntegralType(type.element));
}

bool IsInteger(const Type& type) {
  return type.kind == Type::Kind::kIndex ||
         (type.kind == Type::Kind::kElement && (type.element == PRED || primitive_util::IsIntegralType(type.element)));
}

// The number of `width` bits, sign-extended.
int64_t SignExtended(uint64_t bits, int width) {
  const int shift = 64 - width;
  return static_cast<int64_t>(bits << shift) >> shift;
}

constexpr char kTrue[] = "\1";
constexpr char kFalse[] = "\0";

}  // namespace

EntryDecoder::EntryDecoder(Entries* entries, size_t entry)
    : entries_(entries),
      begin_(entries->file_.entries[entry].bytes.begin),
      bytes_(entries->file_.bytes, begin_, entries->file_.entries[entry].bytes.end,
             entry < entries->file_.attribute_count ? "entry of an attribute" : "entry of a type", entries->error_) {}

const Entries::Slot* EntryDecoder::Reference(size_t entry, size_t offset) {
  const Entries::Slot& slot = entries_->slots_[entry];
  if (slot.state == Entries::State::kDone) {
    depth_ = std::max<uint32_t>(depth_, slot.depth + 1U);
    nodes_ = std::min(nodes_ + slot.nodes, kMostNodes + 1);
    return &slot;
  }
  if (slot.state == Entries::State::kBegun) {
    bytes_.Fail(offset, "an attribute or a type is part of itself");
  } else {
    entries_->stack_.push_back(entry);
  }
  is_missing_ = true;
  return nullptr;
}

const Attribute* EntryDecoder::AttributeReference() {
  const size_t offset = bytes_.offset();
  return AttributeOfNumber(bytes_.Varint(), offset);
}

const Attribute* EntryDecoder::AttributeOfNumber(uint64_t number, size_t offset) {
  if (number >= file().attribute_count) {
    if (bytes_.ok()) {
      bytes_.Fail(offset, absl::StrCat("there is no attribute ", number, ", only ", file().attribute_count));
    }
    return &kMissingAttribute;
  }
  const Entries::Slot* slot = bytes_.ok() ? Reference(static_cast<size_t>(number), offset) : nullptr;
  return slot == nullptr ? &kMissingAttribute : entries_->AsAttribute(*slot);
}

const Type* EntryDecoder::TypeReference() {
  const size_t offset = bytes_.offset();
  const size_t number = bytes_.Index(file().type_count(), "types");
  const Entries::Slot* slot = bytes_.ok() ? Reference(file().attribute_count + number, offset) : nullptr;
  return slot == nullptr ? &kMissingType : static_cast<const Type*>(slot->value);
}

const Location* EntryDecoder::LocationReference() {
  const size_t offset = bytes_.offset();
  const size_t number = bytes_.Index(file().attribute_count, "attributes");
  const Entries::Slot* slot = bytes_.ok() ? Reference(number, offset) : nullptr;
  if (slot == nullptr) return &kMissingLocation;
  if (slot->kind != Entries::Kind::kLocation) {
    bytes_.Fail(offset, absl::StrCat("attribute ", number, " is not a location"));
    return &kMissingLocation;
  }
  return static_cast<const Location*>(slot->value);
}

absl::string_view EntryDecoder::TextReference() {
  const size_t offset = bytes_.offset();
  const Attribute* attribute = AttributeReference();
  if (is_usable() && attribute->kind != Attribute::Kind::kString) bytes_.Fail(offset, "the attribute is not a string");
  return attribute->text;
}

absl::string_view EntryDecoder::Text() {
  const size_t number = bytes_.Index(file().strings.size(), "strings");
  return bytes_.ok() ? file().strings[number] : absl::string_view();
}

absl::Span<const Attribute* const> EntryDecoder::AttributeList() {
  const absl::Span<const Attribute*> list = program().NewArray<const Attribute*>(bytes_.Count(1));
  for (const Attribute*& attribute : list) attribute = AttributeReference();
  return list;
}

absl::Span<const Type* const> EntryDecoder::TypeList() {
  const absl::Span<const Type*> list = program().NewArray<const Type*>(bytes_.Count(1));
  for (const Type*& type : list) type = TypeReference();
  return list;
}

absl::Span<const Location* const> EntryDecoder::LocationList() {
  const absl::Span<const Location*> list = program().NewArray<const Location*>(bytes_.Count(1));
  for (const Location*& location : list) location = LocationReference();
  return list;
}

absl::Span<const int64_t> EntryDecoder::NumberList() {
  const absl::Span<int64_t> list = program().NewArray<int64_t>(bytes_.Count(1));
  for (int64_t& number : list) number = bytes_.SignedVarint();
  return list;
}

absl::Span<const NamedAttribute> EntryDecoder::NamedAttributeList() {
  const absl::Span<NamedAttribute> list = program().NewArray<NamedAttribute>(bytes_.Count(2));
  for (NamedAttribute& attribute : list) {
    attribute.name = TextReference();
    attribute.value = AttributeReference();
  }
  return list;
}

uint64_t EntryDecoder::Bits(int width) {
  const uint64_t bits = width <= 8 ? bytes_.Byte() : static_cast<uint64_t>(bytes_.SignedVarint());
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

void EntryDecoder::SkipWideBits() {
  for (size_t words = bytes_.Count(1); words > 0 && bytes_.ok(); --words) bytes_.SignedVarint();
}

Attribute* EntryDecoder::NewInteger(int64_t value) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kInteger);
  attribute->integer = value;
  attribute->type = defaults().ElementType(S64);
  return attribute;
}

Attribute* EntryDecoder::NewIntegers(absl::Span<const int64_t> values) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kTensor);
  const int64_t size = static_cast<int64_t>(values.size());
  attribute->type = NewShaped(Type::Kind::kTensor, program().CopyArray<int64_t>({size}), defaults().ElementType(S64));
  attribute->text = absl::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(int64_t));
  return attribute;
}

const Attribute* EntryDecoder::AsSymbol(const Attribute* attribute) {
  if (attribute->kind != Attribute::Kind::kString) return attribute;
  return NewText(Attribute::Kind::kSymbol, attribute->text);
}

Type* EntryDecoder::NewShaped(Type::Kind kind, absl::Span<const int64_t> dimensions, const Type* element) {
  Type* type = NewType(kind);
  type->dimensions = dimensions;
  type->types = One(element);
  const bool is_element = element->kind == Type::Kind::kElement || element->kind == Type::Kind::kQuantized ||
                          element->kind == Type::Kind::kIndex || element->kind == Type::Kind::kOther;
  if (is_usable() && !is_element) Fail(absl::StrCat("a tensor cannot have elements of type ", TypeText(*element)));
  for (const int64_t dimension : dimensions) {
    if (is_usable() && dimension < 0 && dimension != kDynamic) {
      Fail(absl::StrCat("a dimension cannot have the size ", dimension));
    }
  }
  return type;
}

void EntryDecoder::SetBounds(Type* tensor, const Attribute* encoding) {
  if (!is_usable()) return;
  if (encoding->kind != Attribute::Kind::kRecord || encoding->text != "stablehlo.bounds") {
    return Fail("the encoding of a tensor's type needs a newer Kashi, which knows only bounds");
  }
  const Attribute& bounds = *encoding->fields[0].value;
  const absl::Span<int64_t> sizes = program().NewArray<int64_t>(bounds.text.size() / sizeof(int64_t));
  if (!sizes.empty()) std::memcpy(sizes.data(), bounds.text.data(), bounds.text.size());
  if (sizes.empty()) return;
  if (sizes.size() != tensor->dimensions.size()) {
    return Fail(absl::StrCat("a tensor of rank ", tensor->dimensions.size(), " has ", sizes.size(), " bounds"));
  }
  for (const int64_t size : sizes) {
    if (size < 0 && size != kDynamic) return Fail(absl::StrCat("a dimension cannot have the bound ", size));
  }
  tensor->bounds = sizes;
}

const Type* EntryDecoder::ReadFunctionType() {
  const absl::Span<const Type* const> inputs = TypeList();
  const absl::Span<const Type* const> results = TypeList();
  const absl::Span<const Type*> types = program().NewArray<const Type*>(inputs.size() + results.size());
  std::copy(results.begin(), results.end(), std::copy(inputs.begin(), inputs.end(), types.begin()));
  Type* type = NewType(Type::Kind::kFunction);
  type->input_count = static_cast<int64_t>(inputs.size());
  type->types = types;
  return type;
}

const Type* EntryDecoder::ReadComplexType() {
  const Type* part = TypeReference();
  if (!is_usable()) return part;
  if (part->kind == Type::Kind::kElement && part->element == F32) return defaults().ElementType(C64);
  if (part->kind == Type::Kind::kElement && part->element == F64) return defaults().ElementType(C128);
  return NewNamedType(program().CopyText(absl::StrCat("complex<", TypeText(*part), ">")));
}

// Unpacks pred bits to one byte per element (vhlo.md 3.3): FF all true, 00 all false if there are more than 8.
absl::string_view EntryDecoder::UnpackPred(absl::string_view blob, int64_t count, bool* is_splat) {
  const auto size = static_cast<size_t>(count);
  if (blob.size() == size && !(size == 1 && blob[0] == '\xFF')) return blob;
  if (blob.size() == 1 && (blob[0] == '\xFF' || size > 8)) {
    *is_splat = size != 1;
    return blob[0] == '\0' ? absl::string_view(kFalse, 1) : absl::string_view(kTrue, 1);
  }
  if (blob.size() != size / 8 + (size % 8 != 0 ? 1 : 0)) return blob;
  const absl::Span<char> elements = program().NewArray<char>(size);
  for (size_t i = 0; i < size; ++i) elements[i] = static_cast<char>((blob[i / 8] >> (i % 8)) & 1);
  return absl::string_view(elements.data(), size);
}

// Integers of 2 or 4 bits, extended by their sign; unsigned integers and floats are extended by zeros.
absl::string_view EntryDecoder::ExtendNarrow(absl::string_view blob, PrimitiveType element) {
  const int width = primitive_util::BitWidth(element);
  const bool is_signed = primitive_util::IsSignedIntegralType(element);
  const absl::Span<char> elements = program().NewArray<char>(blob.size());
  for (size_t i = 0; i < blob.size(); ++i) {
    const uint64_t bits = static_cast<uint8_t>(blob[i]) & ((uint64_t{1} << width) - 1);
    elements[i] = static_cast<char>(is_signed ? SignExtended(bits, width) : static_cast<int64_t>(bits));
  }
  return absl::string_view(elements.data(), elements.size());
}

void EntryDecoder::CheckSize(const Attribute& tensor, int64_t count, int64_t bytes_each) {
  const std::optional<int64_t> whole = CheckedMultiply(tensor.is_splat ? 1 : count, bytes_each);
  if (!whole.has_value() || static_cast<uint64_t>(*whole) != tensor.text.size()) {
    Fail(absl::StrCat("constant of ", tensor.text.size(), " bytes does not fit its type ", TypeText(*tensor.type)));
  }
}

Attribute* EntryDecoder::NewTensor(const Type* type, absl::string_view blob) {
  const bool is_pred = is_usable() && type->kind == Type::Kind::kTensor && type->types[0]->element == PRED;
  const std::optional<int64_t> count = is_pred ? ElementCount(*type) : std::nullopt;
  if (!count.has_value()) return NewUnpackedTensor(type, blob);
  bool is_splat = false;
  Attribute* tensor = NewUnpackedTensor(type, UnpackPred(blob, *count, &is_splat));
  tensor->is_splat = tensor->is_splat || is_splat;
  return tensor;
}

Attribute* EntryDecoder::NewUnpackedTensor(const Type* type, absl::string_view blob) {
  Attribute* tensor = NewAttribute(Attribute::Kind::kTensor);
  tensor->type = type;
  tensor->text = blob;
  if (!is_usable()) return tensor;
  if (type->kind != Type::Kind::kTensor) {
    Fail(absl::StrCat("a constant cannot have the type ", TypeText(*type)));
    return tensor;
  }
  const Type& element = *type->types[0];
  const std::optional<int64_t> count = ElementCount(*type);
  int64_t bytes_each = ElementBytes(element);
  if (bytes_each == 0 && WidthOf(element) > 0) bytes_each = CeilOfRatio(WidthOf(element), 8);  // tf32: 3, f6: 1
  if (!count.has_value() || bytes_each == 0) {
    Fail(absl::StrCat("a constant cannot have the type ", TypeText(*type)));
    return tensor;
  }
  tensor->is_splat = *count != 1 && blob.size() == static_cast<size_t>(bytes_each);
  CheckSize(*tensor, *count, bytes_each);
  if (!is_usable() || element.kind != Type::Kind::kElement) return tensor;
  if (element.element == PRED) {
    const bool is_clean = std::all_of(blob.begin(), blob.end(), [](char c) { return c == '\0' || c == '\1'; });
    if (!is_clean) Fail("a constant of type i1 has an element that is neither 0 nor 1");
  } else if (primitive_util::BitWidth(element.element) < 8) {
    tensor->text = ExtendNarrow(blob, element.element);
  }
  return tensor;
}

bool EntryDecoder::SkipsNumber(const Type* type, absl::string_view wide, Attribute* attribute) {
  if (!is_usable()) {  // the width is not known yet
    bytes_.Bytes(bytes_.left());
    return true;
  }
  if (WidthOf(*type) <= 64) return false;
  SkipWideBits();
  attribute->kind = Attribute::Kind::kOther;
  attribute->text = wide;
  return true;
}

Attribute* EntryDecoder::ReadInteger(const Type* type) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kInteger);
  if (SkipsNumber(type, "a wide integer", attribute)) return attribute;
  const int width = WidthOf(*type);
  if (width == 0 || !(IsInteger(*type) || type->kind == Type::Kind::kOther)) {
    Fail(absl::StrCat("an integer cannot have the type ", TypeText(*type)));
    return attribute;
  }
  const uint64_t bits = Bits(width);
  attribute->type = type;
  attribute->integer = IsSignedInteger(*type) ? SignExtended(bits, width) : static_cast<int64_t>(bits);
  if (type->element == PRED && type->kind == Type::Kind::kElement) {
    attribute->kind = Attribute::Kind::kBool;
    attribute->type = nullptr;
  }
  return attribute;
}

Attribute* EntryDecoder::ReadFloat(const Type* type) {
  Attribute* attribute = NewAttribute(Attribute::Kind::kFloat);
  if (SkipsNumber(type, "a wide float", attribute)) return attribute;
  const int width = WidthOf(*type);
  if (width == 0 || IsInteger(*type)) {
    Fail(absl::StrCat("a float cannot have the type ", TypeText(*type)));
    return attribute;
  }
  attribute->type = type;
  attribute->integer = static_cast<int64_t>(Bits(width));
  return attribute;
}

const Attribute* EntryDecoder::ReadEnum(AttributeForm form) {
  const Enumeration& enumeration = *FindEnumeration(form);
  const uint64_t code = bytes_.Varint();
  if (code < enumeration.first_code || code - enumeration.first_code >= enumeration.values.size()) {
    Fail(absl::StrCat("value ", code, " of an enumeration like ", enumeration.values.back(), " needs a newer Kashi"));
    return nullptr;
  }
  return NewText(Attribute::Kind::kEnum, enumeration.values[code - enumeration.first_code]);
}

}  // namespace kashi::stablehlo
