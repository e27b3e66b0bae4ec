#include "kashi/stablehlo/bytecode/entries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/array/primitive_type.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entry_decoder.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/program/type_text.h"

namespace kashi::stablehlo {
namespace {

// A type in MLIR's text: the small floats of `builtin` had no code in older versions.
const Type* DecodeTextType(EntryDecoder* decoder) {
  const absl::string_view text = decoder->bytes().TextUpToZero();
  const PrimitiveType element = ElementTypeOf(text);
  return element == PRIMITIVE_TYPE_INVALID ? decoder->NewNamedType(text) : decoder->defaults().ElementType(element);
}

// By dialect; nullptr where it has no entries of the kind. Attributes of builtin may be locations.
struct DialectRow {
  const Attribute* (*attribute)(EntryDecoder*);
  const Type* (*type)(EntryDecoder*);
};
constexpr DialectRow kDialects[] = {
    {nullptr, DecodeBuiltinType},
    {DecodeVhloAttribute, DecodeVhloType},
    {DecodeSdyAttribute, nullptr},
    {DecodeStablehloAttribute, DecodeStablehloType},
    {DecodeChloAttribute, nullptr},
    {nullptr, nullptr},  // func
    {nullptr, nullptr},  // others
};
static_assert(sizeof(kDialects) / sizeof(kDialects[0]) == static_cast<size_t>(Dialect::kOther) + 1);

void FailForDialect(EntryDecoder* decoder, absl::string_view name) {
  decoder->Fail(absl::StrCat("an attribute or a type of the dialect ", name,
                             ", which is not one of those that Kashi reads (vhlo, stablehlo, chlo, builtin, sdy)"));
}

}  // namespace

Entries::Entries(const BytecodeFile& file, Program* program, DefaultAttributes* defaults, ReadError* error)
    : file_(file), program_(program), defaults_(defaults), error_(error), slots_(file.entries.size()) {}

const Attribute* Entries::GetAttribute(uint64_t number, size_t offset) {
  if (number >= file_.attribute_count) {
    error_->Set(offset, absl::StrCat("there is no attribute ", number, ", only ", file_.attribute_count));
    return nullptr;
  }
  const Slot* slot = GetSlot(static_cast<size_t>(number));
  return slot == nullptr ? nullptr : AsAttribute(*slot);
}

const Type* Entries::GetType(uint64_t number, size_t offset) {
  if (number >= file_.type_count()) {
    error_->Set(offset, absl::StrCat("there is no type ", number, ", only ", file_.type_count()));
    return nullptr;
  }
  const Slot* slot = GetSlot(file_.attribute_count + static_cast<size_t>(number));
  return slot == nullptr ? nullptr : static_cast<const Type*>(slot->value);
}

const Location* Entries::GetLocation(uint64_t number, size_t offset) {
  if (number >= file_.attribute_count) {
    error_->Set(offset, absl::StrCat("there is no attribute ", number, ", only ", file_.attribute_count));
    return nullptr;
  }
  const Slot* slot = GetSlot(static_cast<size_t>(number));
  if (slot == nullptr) return nullptr;
  if (slot->kind != Kind::kLocation) {
    error_->Set(offset, absl::StrCat("attribute ", number, " is not a location"));
    return nullptr;
  }
  const auto* location = static_cast<const Location*>(slot->value);
  return location->kind == Location::Kind::kUnknown ? nullptr : location;
}

const Attribute* Entries::AsAttribute(const Slot& slot) {
  if (slot.kind == Kind::kAttribute) return static_cast<const Attribute*>(slot.value);
  if (location_attribute_ == nullptr) {
    Attribute* attribute = program_->New<Attribute>();
    attribute->kind = Attribute::Kind::kOther;
    attribute->text = "loc(unknown)";
    location_attribute_ = attribute;
  }
  return location_attribute_;
}

const Entries::Slot* Entries::Decode(size_t entry) {
  stack_.push_back(entry);
  while (!stack_.empty() && !error_->is_set()) {
    const size_t top = stack_.back();
    if (slots_[top].state == State::kDone) {
      stack_.pop_back();
    } else {
      DecodeOnce(top);
    }
  }
  return error_->is_set() ? nullptr : &slots_[entry];
}

// Decodes the entry, or puts the entries to which it refers on the stack.
void Entries::DecodeOnce(size_t entry) {
  Slot& slot = slots_[entry];
  slot.state = State::kBegun;
  slot.kind = entry < file_.attribute_count ? Kind::kAttribute : Kind::kType;
  EntryDecoder decoder(this, entry);
  const BytecodeDialect& dialect = file_.dialects[file_.entries[entry].dialect];
  if (!file_.entries[entry].is_custom) {
    slot.value = slot.kind == Kind::kType ? static_cast<const void*>(DecodeTextType(&decoder))
                                          : decoder.NewText(Attribute::Kind::kOther, decoder.bytes().TextUpToZero());
  } else if (dialect.dialect == Dialect::kBuiltin && slot.kind == Kind::kAttribute) {
    const BuiltinAttribute builtin = DecodeBuiltinAttribute(&decoder);
    slot.value = builtin.location != nullptr ? static_cast<const void*>(builtin.location) : builtin.attribute;
    if (builtin.location != nullptr) slot.kind = Kind::kLocation;
  } else {
    const DialectRow& row = kDialects[static_cast<size_t>(dialect.dialect)];
    if (slot.kind == Kind::kType && row.type != nullptr) {
      slot.value = row.type(&decoder);
    } else if (slot.kind == Kind::kAttribute && row.attribute != nullptr) {
      slot.value = row.attribute(&decoder);
    } else {
      FailForDialect(&decoder, dialect.name);
    }
  }
  if (decoder.bytes().ok()) decoder.bytes().ExpectEnd();
  if (!decoder.is_usable()) return;
  slot.depth = static_cast<uint16_t>(decoder.depth_);
  slot.nodes = decoder.nodes_;
  if (slot.kind == Kind::kLocation) {
    if (slot.depth > kDeepestLocation || slot.nodes > kMostLocationNodes) {
      slot.value = decoder.NewLocation(Location::Kind::kUnknown);
      slot.depth = 1;
      slot.nodes = 1;
    }
  } else if (slot.depth > kDeepestEntry) {
    decoder.Fail(absl::StrCat("attributes and types are nested deeper than ", kDeepestEntry));
  } else if (slot.nodes > kMostNodes) {
    decoder.Fail(absl::StrCat("an attribute or a type has more than ", kMostNodes, " parts when written out"));
  }
  slot.state = State::kDone;
}

}  // namespace kashi::stablehlo
