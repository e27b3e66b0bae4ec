// Decoders of one entry use this: the entry's bytes, references to other entries, new types and attributes.
// For the files *_entries.cc; entries.h explains how they are called.
#ifndef KASHI_STABLEHLO_BYTECODE_ENTRY_DECODER_H_
#define KASHI_STABLEHLO_BYTECODE_ENTRY_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// One attempt to decode one entry. If a reference is not decoded yet, a stand-in takes its place, and is_missing() is
// true: the result is then dropped, and the entry is decoded again later. Before code looks into the result of a
// reference, it calls is_usable().
class EntryDecoder {
 public:
  EntryDecoder(Entries* entries, size_t entry);

  ByteCursor& bytes() { return bytes_; }
  bool is_missing() const { return is_missing_; }
  bool is_usable() const { return !is_missing_ && bytes_.ok(); }
  void Fail(std::string message) { bytes_.Fail(begin_, std::move(message)); }

  // References; never nullptr.
  const Attribute* AttributeReference();
  // The attribute with a number that was read already, at `offset`.
  const Attribute* AttributeOfNumber(uint64_t number, size_t offset);
  const Type* TypeReference();
  const Location* LocationReference();
  // A reference to an attribute that is a string: its text.
  absl::string_view TextReference();
  // An index of the file's strings.
  absl::string_view Text();

  // Lists: a count, then that number of references or numbers.
  absl::Span<const Attribute* const> AttributeList();
  absl::Span<const Type* const> TypeList();
  absl::Span<const Location* const> LocationList();
  absl::Span<const int64_t> NumberList();
  absl::Span<const NamedAttribute> NamedAttributeList();

  // The bits of an integer or float of this width; zero-extended, `width` <= 64.
  uint64_t Bits(int width);
  // Skips a number of more than 64 bits.
  void SkipWideBits();
  // Whether the number's bytes were skipped, because its width is not known yet or is more than 64 bits. In the latter
  // case the attribute is of kind kOther and has the text `wide`.
  bool SkipsNumber(const Type* type, absl::string_view wide, Attribute* attribute);

  // New things in the program.
  Program& program() { return *entries_->program_; }
  DefaultAttributes& defaults() { return *entries_->defaults_; }
  const BytecodeFile& file() const { return entries_->file_; }
  Attribute* NewAttribute(Attribute::Kind kind) {
    Attribute* attribute = program().New<Attribute>();
    attribute->kind = kind;
    return attribute;
  }
  Type* NewType(Type::Kind kind) {
    Type* type = program().New<Type>();
    type->kind = kind;
    return type;
  }
  Type* NewNamedType(absl::string_view name) {
    Type* type = NewType(Type::Kind::kOther);
    type->name = name;
    return type;
  }
  Location* NewLocation(Location::Kind kind) {
    Location* location = program().New<Location>();
    location->kind = kind;
    return location;
  }
  // A list with one element.
  absl::Span<const Type* const> One(const Type* type) { return program().CopyArray<const Type*>({type}); }
  Attribute* NewText(Attribute::Kind kind, absl::string_view text) {
    Attribute* attribute = NewAttribute(kind);
    attribute->text = text;
    return attribute;
  }
  // kInteger i64.
  Attribute* NewInteger(int64_t value);
  // A tensor of i64 of rank 1.
  Attribute* NewIntegers(absl::Span<const int64_t> values);
  // The symbol, or the string as a symbol.
  const Attribute* AsSymbol(const Attribute* attribute);

  // A tensor type (kTensor, kBuffer) with this element type, from its list of sizes.
  Type* NewShaped(Type::Kind kind, absl::Span<const int64_t> dimensions, const Type* element);
  // Sets the bounds of a tensor, from the attribute of its type.
  void SetBounds(Type* tensor, const Attribute* encoding);
  // dense<…> with the elements in the blob, which is checked against the type.
  Attribute* NewTensor(const Type* type, absl::string_view blob);
  // As NewTensor, but the bits of a pred are not packed.
  Attribute* NewUnpackedTensor(const Type* type, absl::string_view blob);
  // Function and complex types, which builtin and vhlo spell alike.
  const Type* ReadFunctionType();
  const Type* ReadComplexType();
  // An integer or a bool; a float.
  Attribute* ReadInteger(const Type* type);
  Attribute* ReadFloat(const Type* type);
  // A value of an enumeration, by its number.
  const Attribute* ReadEnum(AttributeForm form);

 private:
  const Entries::Slot* Reference(size_t entry, size_t offset);
  absl::string_view UnpackPred(absl::string_view blob, int64_t count, bool* is_splat);
  absl::string_view ExtendNarrow(absl::string_view blob, PrimitiveType element);
  void CheckSize(const Attribute& tensor, int64_t count, int64_t bytes_each);

  friend class Entries;

  Entries* entries_;
  size_t begin_;
  ByteCursor bytes_;
  bool is_missing_ = false;
  uint32_t nodes_ = 1;
  uint32_t depth_ = 1;
};

// Decode the entry whose code is next. nullptr, with the error set, if there is no such code.
const Attribute* DecodeVhloAttribute(EntryDecoder* decoder);
const Type* DecodeVhloType(EntryDecoder* decoder);
const Attribute* DecodeSdyAttribute(EntryDecoder* decoder);
const Attribute* DecodeStablehloAttribute(EntryDecoder* decoder);
const Type* DecodeStablehloType(EntryDecoder* decoder);
const Attribute* DecodeChloAttribute(EntryDecoder* decoder);
const Type* DecodeBuiltinType(EntryDecoder* decoder);
// A location or an attribute; the other one is nullptr. An unknown location has the kind kUnknown.
struct BuiltinAttribute {
  const Attribute* attribute = nullptr;
  const Location* location = nullptr;
};
BuiltinAttribute DecodeBuiltinAttribute(EntryDecoder* decoder);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_BYTECODE_ENTRY_DECODER_H_
