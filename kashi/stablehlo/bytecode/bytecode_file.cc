#include "kashi/stablehlo/bytecode/bytecode_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"

namespace kashi::stablehlo {
namespace {

constexpr absl::string_view kMagic = "ML\xEFR";

enum SectionId : uint8_t {
  kStringsSection,
  kDialectsSection,
  kEntriesSection,
  kEntryOffsetsSection,
  kOperationsSection,
  kResourcesSection,
  kResourceOffsetsSection,
  kDialectVersionSection,
  kPropertiesSection,
  kSectionCount
};

constexpr const char* kSectionNames[kSectionCount] = {
    "section of strings",
    "section of dialects",
    "section of attributes and types",
    "section of attribute and type offsets",
    "section of operations",
    "section of resources",
    "section of resource offsets",
    "version of a dialect",
    "section of properties",
};

struct KnownDialect {
  absl::string_view name;
  Dialect dialect;
};
constexpr KnownDialect kKnownDialects[] = {{"builtin", Dialect::kBuiltin}, {"vhlo", Dialect::kVhlo},
                                           {"sdy", Dialect::kSdy},         {"stablehlo", Dialect::kStablehlo},
                                           {"chlo", Dialect::kChlo},       {"func", Dialect::kFunc}};

Dialect FindDialect(absl::string_view name) {
  for (const KnownDialect& known : kKnownDialects) {
    if (known.name == name) return known.dialect;
  }
  return Dialect::kOther;
}

class FileReader {
 public:
  FileReader(BytecodeFile* file, ReadError* error) : file_(*file), error_(*error) {}

  void Read() {
    FindSections();
    if (!error_.is_set()) ReadStrings();
    if (!error_.is_set()) ReadDialects();
    if (!error_.is_set()) ReadEntries();
    if (!error_.is_set() && sections_[kPropertiesSection].has_value()) ReadProperties();
    if (!error_.is_set()) ReadResources();
  }

 private:
  void FindSections();
  void CheckSections(size_t end);
  void ReadStrings();
  void ReadDialects();
  void ReadDialect(ByteCursor* cursor);
  void ReadOperationNames(ByteCursor* cursor);
  void ReadEntries();
  void ReadProperties();
  void ReadResources();
  void ReadResource(ByteCursor* offsets, ByteCursor* values, bool is_of_dialect);

  BytecodeFile& file_;
  ReadError& error_;
  std::array<std::optional<ByteCursor>, kSectionCount> sections_;
};

void FileReader::FindSections() {
  ByteCursor cursor(file_.bytes, 0, file_.bytes.size(), "file", &error_);
  if (cursor.Bytes(std::min(kMagic.size(), cursor.left())) != kMagic) {
    return error_.Set(0, "the file does not begin with 4D 4C EF 52");
  }
  const size_t version_offset = cursor.offset();
  file_.version = cursor.Varint();
  file_.producer = cursor.TextUpToZero();
  if (file_.version > kNewestBytecodeVersion) {
    return error_.Set(version_offset,
                      absl::StrCat("bytecode version ", file_.version, " (of ", file_.producer,
                                   ") needs a newer Kashi, which knows versions up to ", kNewestBytecodeVersion));
  }
  while (cursor.ok() && !cursor.AtEnd()) {
    const size_t begin = cursor.offset();
    const uint8_t peeked = static_cast<uint8_t>(file_.bytes[begin]) & 0x7F;
    uint8_t id = 0;
    const ByteCursor section = cursor.Section(&id, peeked < kSectionCount ? kSectionNames[peeked] : "section");
    if (!cursor.ok()) return;
    if (id >= kSectionCount || id == kDialectVersionSection) {
      return cursor.Fail(begin, absl::StrCat("a section of the unknown kind ", id, " needs a newer Kashi"));
    }
    if (sections_[id].has_value()) return cursor.Fail(begin, absl::StrCat("a second ", kSectionNames[id]));
    sections_[id] = section;
  }
  CheckSections(file_.bytes.size());
}

void FileReader::CheckSections(size_t end) {
  std::vector<SectionId> needed = {kStringsSection, kDialectsSection, kEntriesSection, kEntryOffsetsSection,
                                   kOperationsSection};
  if (file_.version >= 5) needed.push_back(kPropertiesSection);
  for (const SectionId id : needed) {
    if (!sections_[id].has_value()) return error_.Set(end, absl::StrCat("there is no ", kSectionNames[id]));
  }
  if (sections_[kResourcesSection].has_value() != sections_[kResourceOffsetsSection].has_value()) {
    return error_.Set(end, "of the two sections of resources one is missing");
  }
  const ByteCursor& operations = *sections_[kOperationsSection];
  file_.operations = {operations.offset(), operations.offset() + operations.left()};
}

void FileReader::ReadStrings() {
  ByteCursor cursor = *sections_[kStringsSection];
  const size_t count = cursor.Count(2);
  file_.strings.resize(count);
  std::vector<uint64_t> sizes(count);
  for (size_t i = count; i-- > 0;) sizes[i] = cursor.Varint();
  for (size_t i = 0; i < count && cursor.ok(); ++i) {
    const size_t begin = cursor.offset();
    const absl::string_view text = cursor.Bytes(sizes[i]);
    if (!cursor.ok()) return;
    if (text.empty() || text.back() != '\0') return cursor.Fail(begin, "a string is not ended by 00");
    file_.strings[i] = text.substr(0, text.size() - 1);
  }
  cursor.ExpectEnd();
}

void FileReader::ReadDialects() {
  ByteCursor cursor = *sections_[kDialectsSection];
  const size_t count = cursor.Count(1);
  file_.dialects.reserve(count);
  while (cursor.ok() && file_.dialects.size() < count) ReadDialect(&cursor);
  if (!cursor.ok()) return;
  if (file_.version >= 4) file_.operation_names.reserve(cursor.Count(1));
  while (cursor.ok() && !cursor.AtEnd()) ReadOperationNames(&cursor);
}

void FileReader::ReadDialect(ByteCursor* cursor) {
  const size_t begin = cursor->offset();
  bool has_version = false;
  const uint64_t index = file_.version >= 1 ? cursor->FlaggedVarint(&has_version) : cursor->Varint();
  if (has_version) {
    uint8_t id = 0;
    cursor->Section(&id, kSectionNames[kDialectVersionSection]);
    if (id != kDialectVersionSection)
      return cursor->Fail(begin, "the version of a dialect must be a section of kind 7");
  }
  if (index >= file_.strings.size()) return cursor->Fail(begin, "the name of a dialect is not among the strings");
  const absl::string_view name = file_.strings[index];
  file_.dialects.push_back({name, FindDialect(name)});
}

void FileReader::ReadOperationNames(ByteCursor* cursor) {
  const auto dialect = static_cast<uint32_t>(cursor->Index(file_.dialects.size(), "dialects"));
  const size_t count = cursor->Count(1);
  for (size_t i = 0; i < count && cursor->ok(); ++i) {
    const size_t begin = cursor->offset();
    bool is_registered = false;
    const uint64_t index = file_.version >= 5 ? cursor->FlaggedVarint(&is_registered) : cursor->Varint();
    if (index >= file_.strings.size()) {
      return cursor->Fail(begin, "the name of an operation is not among the strings");
    }
    file_.operation_names.push_back({dialect, is_registered, file_.strings[index]});
  }
}

void FileReader::ReadEntries() {
  ByteCursor cursor = *sections_[kEntryOffsetsSection];
  const size_t attributes = cursor.Count(1);
  const size_t types = cursor.Count(1);
  const size_t count = cursor.CheckCount(cursor.offset(), attributes + types, 1);
  file_.attribute_count = attributes;
  file_.entries.reserve(count);
  size_t begin = sections_[kEntriesSection]->offset();
  const size_t end = begin + sections_[kEntriesSection]->left();
  while (cursor.ok() && !cursor.AtEnd()) {
    const auto dialect = static_cast<uint32_t>(cursor.Index(file_.dialects.size(), "dialects"));
    for (size_t left = cursor.Count(1); left > 0 && cursor.ok(); --left) {
      const size_t offset = cursor.offset();
      bool is_custom = false;
      const uint64_t size = cursor.FlaggedVarint(&is_custom);
      if (size > end - begin) return cursor.Fail(offset, "an entry is longer than the section of attributes and types");
      file_.entries.push_back({{begin, begin + size}, dialect, is_custom});
      begin += size;
    }
  }
  if (!cursor.ok()) return;
  if (file_.entries.size() != count) {
    return cursor.Fail(
        absl::StrCat("the offsets are of ", file_.entries.size(), " attributes and types, not of ", count));
  }
  if (begin != end) error_.Set(begin, "bytes are left over at the end of the section of attributes and types");
}

void FileReader::ReadProperties() {
  ByteCursor cursor = *sections_[kPropertiesSection];
  const size_t count = cursor.Count(1);
  file_.properties.reserve(count);
  while (cursor.ok() && file_.properties.size() < count) {
    const uint64_t size = cursor.Varint();
    const size_t begin = cursor.offset();
    cursor.Bytes(size);
    file_.properties.push_back({begin, cursor.offset()});
  }
  cursor.ExpectEnd();
}

void FileReader::ReadResources() {
  if (!sections_[kResourcesSection].has_value()) return;
  ByteCursor offsets = *sections_[kResourceOffsetsSection];
  ByteCursor values = *sections_[kResourcesSection];
  for (size_t groups = offsets.Count(2); groups > 0 && offsets.ok(); --groups) {
    offsets.Index(file_.strings.size(), "strings");
    for (size_t left = offsets.Count(3); left > 0 && offsets.ok(); --left) ReadResource(&offsets, &values, false);
  }
  while (offsets.ok() && !offsets.AtEnd()) {
    offsets.Index(file_.dialects.size(), "dialects");
    for (size_t left = offsets.Count(3); left > 0 && offsets.ok(); --left) ReadResource(&offsets, &values, true);
  }
  values.ExpectEnd();
}

void FileReader::ReadResource(ByteCursor* offsets, ByteCursor* values, bool is_of_dialect) {
  offsets->Index(file_.strings.size(), "strings");
  const uint64_t size = offsets->Varint();
  const uint8_t kind = offsets->Byte();
  const size_t begin = values->offset();
  values->Bytes(size);
  if (!values->ok() || !is_of_dialect) return;
  ByteCursor value(file_.bytes, begin, begin + size, "resource", &error_);
  absl::string_view blob;
  if (kind == 0) {
    const uint64_t alignment = value.Varint();
    const uint64_t blob_size = value.Varint();
    value.SkipPadding(alignment);
    blob = value.Bytes(blob_size);
  }
  file_.resources.push_back(blob);
}

}  // namespace

bool BytecodeFile::HasDialect(Dialect dialect) const {
  return std::any_of(dialects.begin(), dialects.end(),
                     [=](const BytecodeDialect& candidate) { return candidate.dialect == dialect; });
}

void ReadBytecodeFile(absl::string_view bytes, BytecodeFile* file, ReadError* error) {
  file->bytes = bytes;
  FileReader(file, error).Read();
}

}  // namespace kashi::stablehlo
