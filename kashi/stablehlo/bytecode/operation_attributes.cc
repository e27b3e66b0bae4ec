// Attributes of operations: from properties or a dictionary, in the newest version's form.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/bytecode/operation_reader.h"
#include "kashi/stablehlo/bytecode/plain_properties.h"
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
const Attribute* OperationReader::VhloForm(const Attribute* attribute, const AttributeRow& row,
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

ByteCursor OperationReader::PropertiesOf(const Header& header) {
  const ByteRange range = file_.properties[header.properties];
  return ByteCursor(file_.bytes, range.begin, range.end, "properties of an operation", error_);
}

// Into scratch_: the contents of the properties, or the dictionary of an operation without any. Values of properties
// are in the order of the names.
void OperationReader::ReadProperties(const Header& header, const Name& name, const Operation& operation,
                                     Properties* properties) {
  ByteCursor cursor = bytes_;
  if (properties != nullptr) cursor = PropertiesOf(header);
  for (const AttributeRow& row : name.row->attributes) {
    if (!IsIn(row, name.version)) continue;
    const Attribute* value = nullptr;
    if (properties != nullptr) {
      const size_t begin = cursor.offset();
      const uint64_t number = cursor.Varint();
      if (cursor.ok()) value = entries_.GetAttribute(number, begin);
    } else if (header.unregistered != nullptr) {
      value = FindIn(header.unregistered->fields, row.name);
    } else if (header.dictionary != nullptr) {
      value = FindIn(header.dictionary->fields, row.name);
    }
    if (!cursor.ok()) return;
    if (value != nullptr) {
      value = VhloForm(value, row, *name.row, header.begin);
    } else if (row.fallback == AttributeDefault::kRequired) {
      return cursor.Fail(header.begin, absl::StrCat(operation.name, " needs the attribute ", row.name));
    }
    if (value != nullptr && name.row->IsCurrent(row)) scratch_.push_back({row.name, value});
  }
  if (properties != nullptr) cursor.ExpectEnd();
}

// Adds the attributes that the operation's version lacks, in the order of the names.
void OperationReader::AddNewer(const Name& name, const Operation& operation, size_t begin) {
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
  if (header.dictionary == nullptr || !CountCopies(header)) return;
  scratch_.assign(properties.begin(), properties.end());
  for (const NamedAttribute& attribute : header.dictionary->fields) {
    const bool is_read = known == nullptr && header.unregistered == nullptr && IsProperty(name, attribute.name);
    if (!is_read) scratch_.push_back(attribute);
  }
  operation->attributes = program_->CopyArray<NamedAttribute>(scratch_);
}

// Counts the attributes of the dictionary, which the operation gets too. False: they are too many.
bool OperationReader::CountCopies(const Header& header) {
  copied_attributes_ += header.dictionary->fields.size();
  if (copied_attributes_ / kMostCopiesPerByte <= file_.bytes.size()) return true;
  bytes_.Fail(header.begin, "the operations have too many attributes for a file of this size");
  return false;
}

// ---- Operations of other dialects than VHLO -------------------------------------------------------------------------

// Into scratch_. The number of values says how new the form is that the writer knows.
void OperationReader::ReadPlainProperties(const Header& header, const Name& name) {
  ByteCursor counted = PropertiesOf(header);
  size_t count = 0;
  for (; count <= name.properties.size() && !counted.AtEnd(); ++count) counted.Varint();
  int8_t newest = 1;
  for (const PlainProperty& property : name.properties) newest = std::max(newest, property.since);
  const auto known = [&](int8_t since) {
    return std::count_if(name.properties.begin(), name.properties.end(),
                         [since](const PlainProperty& property) { return property.since <= since; });
  };
  while (newest > 1 && known(newest) > static_cast<std::ptrdiff_t>(count)) --newest;
  if (known(newest) != static_cast<std::ptrdiff_t>(count)) {
    return bytes_.Fail(header.begin, absl::StrCat("the properties of ", name.text, " need a newer Kashi"));
  }
  ByteCursor cursor = PropertiesOf(header);
  for (const PlainProperty& property : name.properties) {
    if (property.since > newest) continue;
    const size_t begin = cursor.offset();
    bool is_there = true;
    const uint64_t number = property.is_optional ? cursor.FlaggedVarint(&is_there) : cursor.Varint();
    if (!cursor.ok()) return;
    if (!is_there) continue;
    const Attribute* value = entries_.GetAttribute(number, begin);
    if (value == nullptr) return;
    scratch_.push_back({property.name, value});
  }
}

void OperationReader::SetPlainAttributes(const Header& header, const Name& name, Operation* operation) {
  scratch_.clear();
  if (header.has_properties) {
    ReadPlainProperties(header, name);
  } else if (header.unregistered != nullptr) {
    scratch_.assign(header.unregistered->fields.begin(), header.unregistered->fields.end());
  }
  if (!bytes_.ok()) return;
  if (header.dictionary != nullptr) {
    if (!CountCopies(header)) return;
    scratch_.insert(scratch_.end(), header.dictionary->fields.begin(), header.dictionary->fields.end());
  }
  const absl::Status status = normal_form_.SetAttributes(scratch_, name.row, operation);
  if (!status.ok()) bytes_.Fail(header.begin, std::string(status.message()));
}

}  // namespace kashi::stablehlo
