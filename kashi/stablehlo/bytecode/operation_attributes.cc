// Attributes of operations: from properties or a dictionary, in the newest version's form.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/bytecode/operation_reader.h"
#include "kashi/stablehlo/program/default_attributes.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

const Attribute* FindIn(absl::Span<const NamedAttribute> attributes, absl::string_view name) {
  for (const NamedAttribute& attribute : attributes) {
    if (attribute.name == name) return attribute.value;
  }
  return nullptr;
}

const Attribute* ToSymbol(const Attribute* attribute, Program* program) {
  if (attribute->kind != Attribute::Kind::kString) return attribute;
  auto* symbol = program->New<Attribute>();
  symbol->kind = Attribute::Kind::kSymbol;
  symbol->text = attribute->text;
  return symbol;
}

// Pre: an array.
const Attribute* MakeSymbols(const Attribute* attribute, Program* program) {
  const absl::Span<const Attribute*> elements = program->NewArray<const Attribute*>(attribute->elements.size());
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = ToSymbol(attribute->elements[i], program);
  auto* symbols = program->New<Attribute>();
  symbols->kind = Attribute::Kind::kArray;
  symbols->elements = elements;
  return symbols;
}

// Many operations may share a dictionary. This limits the attributes of all copies, for each byte of the file.
constexpr size_t kMostCopiesPerByte = 16;

// Whether an operation of this version has the attribute.
bool IsIn(const AttributeRow& row, int8_t version) { return row.since <= version && version <= row.until; }

}  // namespace

// VHLO has strings in place of symbols.
const Attribute* OperationReader::NormalForm(const Attribute* attribute, const AttributeRow& row,
                                             const OperationRow& operation, size_t begin) {
  if (row.form == AttributeForm::kSymbol) attribute = ToSymbol(attribute, program_);
  if (row.form == AttributeForm::kSymbols && attribute->kind == Attribute::Kind::kArray) {
    const Attribute*& symbols = symbols_[attribute];  // once for all operations that share the array
    if (symbols == nullptr) symbols = MakeSymbols(attribute, program_);
    attribute = symbols;
  }
  if (!HasForm(*attribute, row.form)) {
    bytes_.Fail(begin, absl::StrCat("the attribute ", row.name, " of ", operation.name, " has the wrong kind"));
  }
  return attribute;
}

bool OperationReader::IsProperty(const Name& name, absl::string_view attribute) const {
  return std::any_of(name.row->attributes.begin(), name.row->attributes.end(),
                     [&](const AttributeRow& row) { return row.name == attribute && IsIn(row, name.version); });
}

// Into scratch_: the contents of the properties, or the dictionary of an operation without any. Values of properties
// are in the order of the names; the absent ones of builtin and sdy are flagged.
void OperationReader::ReadProperties(const Header& header, const Name& name, const Operation& operation,
                                     Properties* properties) {
  ByteCursor cursor = bytes_;
  if (properties != nullptr) {
    const ByteRange range = file_.properties[header.properties];
    cursor = ByteCursor(file_.bytes, range.begin, range.end, "properties of an operation", error_);
  }
  for (const AttributeRow& row : name.row->attributes) {
    if (name.is_vhlo && !IsIn(row, name.version)) continue;
    const Attribute* value = nullptr;
    if (properties != nullptr) {
      const size_t begin = cursor.offset();
      bool is_there = true;
      const bool may_be_absent = !name.is_vhlo && row.fallback == AttributeDefault::kOptional;
      const uint64_t number = may_be_absent ? cursor.FlaggedVarint(&is_there) : cursor.Varint();
      if (cursor.ok() && is_there) value = entries_.GetAttribute(number, begin);
    } else if (header.unregistered != nullptr) {
      value = FindIn(header.unregistered->fields, row.name);
    } else if (header.dictionary != nullptr) {
      value = FindIn(header.dictionary->fields, row.name);
    }
    if (!cursor.ok()) return;
    if (value != nullptr) {
      value = NormalForm(value, row, *name.row, header.begin);
    } else if (!name.is_vhlo || row.fallback == AttributeDefault::kRequired) {
      if (row.fallback == AttributeDefault::kOptional) continue;
      return cursor.Fail(header.begin, absl::StrCat(operation.name, " needs the attribute ", row.name));
    }
    if (value != nullptr && name.row->IsCurrent(row)) scratch_.push_back({row.name, value});
  }
  if (properties != nullptr) cursor.ExpectEnd();
}

// Adds the attributes that the operation's version lacks, in the order of the names.
void OperationReader::AddNewer(const Name& name, const Operation& operation, size_t begin) {
  if (!name.is_vhlo) return;
  size_t next = 0;
  for (const AttributeRow& row : name.row->attributes) {
    if (!name.row->IsCurrent(row)) continue;
    if (next < scratch_.size() && scratch_[next].name == row.name) {
      ++next;
      continue;
    }
    const absl::StatusOr<const Attribute*> value = defaults_.Make(row, operation);
    if (!value.ok()) return bytes_.Fail(begin, std::string(value.status().message()));
    scratch_.insert(scratch_.begin() + static_cast<std::ptrdiff_t>(next++), {row.name, *value});
  }
}

void OperationReader::SetAttributes(const Header& header, const Name& name, Operation* operation) {
  const bool has_properties = header.has_properties;
  Properties* known = has_properties ? &properties_[header.properties] : nullptr;
  absl::Span<const NamedAttribute> properties;
  if (known != nullptr && known->is_read && known->name == header.name) {
    properties = known->attributes;
  } else if (!name.row->attributes.empty() || known != nullptr) {
    scratch_.clear();
    ReadProperties(header, name, *operation, known);
    if (bytes_.ok()) AddNewer(name, *operation, header.begin);
    if (!bytes_.ok()) return;
    properties = program_->CopyArray<NamedAttribute>(scratch_);
    if (known != nullptr) *known = {header.name, true, properties};
  }
  operation->attributes = properties;
  if (header.dictionary == nullptr) return;
  copied_attributes_ += header.dictionary->fields.size();
  if (copied_attributes_ / kMostCopiesPerByte > file_.bytes.size()) {
    return bytes_.Fail(header.begin, "the operations have too many attributes for a file of this size");
  }
  scratch_.assign(properties.begin(), properties.end());
  for (const NamedAttribute& attribute : header.dictionary->fields) {
    const bool is_read = known == nullptr && header.unregistered == nullptr && IsProperty(name, attribute.name);
    if (!is_read) scratch_.push_back(attribute);
  }
  operation->attributes = program_->CopyArray<NamedAttribute>(scratch_);
}

}  // namespace kashi::stablehlo
