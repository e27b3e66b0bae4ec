#include "kashi/stablehlo/text/mlir_reader.h"

#include "absl/strings/str_cat.h"
#include "kashi/stablehlo/text/text_reader.h"

namespace kashi::stablehlo {

MlirReader::MlirReader(const SourceText& source)
    : source_(source), cursor_(source.text), defaults_(&program_), normal_form_(&program_, &defaults_) {
  constexpr size_t kMemoryOfByte = 3;  // an operation has some 100 bytes of text, and takes 200 to 300 in memory
  program_.Reserve(source.text.size() * kMemoryOfByte);
}

bool MlirReader::Error(size_t begin, size_t end, std::string message) {
  if (failed_) return false;
  failed_ = true;
  error_.begin = std::min(begin, source_.text.size());
  error_.end = std::min(std::max(begin, end), source_.text.size());
  error_.message = std::move(message);
  return false;
}

bool MlirReader::ErrorHere(absl::string_view expected) {
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  const size_t end = cursor_.TokenEnd();
  if (begin >= source_.text.size())
    return Error(begin, begin, absl::StrCat("expected ", expected, ", got end of text"));
  const absl::string_view token = source_.text.substr(begin, std::min<size_t>(end - begin, 40));
  return Error(begin, end, absl::StrCat("expected ", expected, ", got `", token, "`"));
}

bool MlirReader::Expect(char c, absl::string_view where) {
  return cursor_.Match(c) || ErrorHere(absl::StrCat("`", std::string(1, c), "` ", where));
}

MlirReader::WrittenSize MlirReader::SizeOf(const Attribute& attribute) const {
  const auto found = attribute_sizes_.find(&attribute);
  if (found != attribute_sizes_.end()) return found->second;
  WrittenSize size;
  for (const Attribute* element : attribute.elements) size.Add(SizeOf(*element));
  for (const NamedAttribute& field : attribute.fields) size.Add(SizeOf(*field.value));
  return size;
}

// #name = attribute or location, !name = type
bool MlirReader::ReadAlias() {
  const bool is_type = cursor_.Peek() == '!';
  const size_t begin = cursor_.offset();
  cursor_.Seek(begin + 1);
  const absl::string_view name = cursor_.ReadSuffix();
  if (name.empty()) return ErrorHere("the name of an alias");
  if (!Expect('=', "after the name of an alias")) return false;
  if (is_type) {
    const Type* type = ReadType();
    if (type != nullptr) type_aliases_[name] = type;
    return type != nullptr;
  }
  if (!cursor_.AtWord("loc")) {
    const Attribute* value = ReadAttribute();
    if (value == nullptr) return false;
    const WrittenSize size = SizeOf(*value);
    if (size.depth > kMaxDepth) return TooDeep();
    attribute_sizes_[value] = size;
    aliases_[name] = value;
    return true;
  }
  const Location* location = nullptr;
  if (!ReadOptionalLocation(&location)) return false;
  Location* alias = LocationAlias(name, begin);
  if (locations_[name].defined) return Error(begin, cursor_.offset(), absl::StrCat("#", name, " is defined already"));
  locations_[name].defined = true;
  // An alias is a copy: the location that it names must be complete. Parts of that may come later.
  if (undefined_locations_.contains(location)) {
    return Error(begin, cursor_.offset(), absl::StrCat("#", name, " is another name of a location that comes later"));
  }
  undefined_locations_.erase(alias);
  *alias = *location;
  return true;
}

bool MlirReader::ReadResourceEntry() {
  absl::string_view name = cursor_.ReadWord();
  if (name.empty() && !ReadString(&name)) return false;
  if (!Expect(':', "after the name of a resource")) return false;
  if (cursor_.Match('{')) {
    while (cursor_.Peek() != '}') {
      if (!ReadResourceEntry()) return false;
      cursor_.Match(',');
    }
    return cursor_.Match('}');
  }
  if (cursor_.Peek() != '"') return ReadAttribute() != nullptr;
  Resource resource;
  resource.offset = cursor_.offset();
  resource.digits = cursor_.ReadQuoted();
  if (resource.digits.empty()) return ErrorHere("a string that ends on its line");
  resource.digits = resource.digits.substr(1, resource.digits.size() - 2);
  resources_[name] = resource;
  return true;
}

// {-# dialect_resources: {builtin: {name: "0x…"}} #-}
bool MlirReader::ReadResources() {
  while (!cursor_.Match("#-}")) {
    const Depth depth(this, kMaxDepth, &depth_);
    if (cursor_.AtEnd()) return ErrorHere("`#-}`");
    if (!ReadResourceEntry()) return false;
    cursor_.Match(',');
  }
  return true;
}

// The first four bytes of a resource are its alignment.
bool MlirReader::FillResources() {
  for (const ResourceUse& use : resource_uses_) {
    const auto found = resources_.find(use.name);
    if (found == resources_.end()) return Error(use.begin, use.end, "this resource is not in the text (elided?)");
    const absl::string_view digits = found->second.digits;
    if (digits.size() < 10) return Error(found->second.offset, found->second.offset + 1, "expected `0x` and 8 digits");
    if (!ParseHexElements(program_.CopyText(absl::StrCat("0x", digits.substr(10))), found->second.offset + 8,
                          use.attribute)) {
      return false;
    }
  }
  return true;
}

bool MlirReader::FinishModule(std::vector<Operation*>* operations) {
  if (operations->size() == 1 && operations->front()->name == "builtin.module") {
    program_.module = operations->front();
    return true;
  }
  Operation* module = program_.New<Operation>();
  module->name = "builtin.module";
  module->regions = program_.NewArray<Region>(1);
  module->regions[0].blocks = program_.NewArray<Block>(1);
  module->regions[0].blocks[0].operations = program_.CopyArray<Operation*>(*operations);
  program_.module = module;
  return true;
}

bool MlirReader::ReadTopLevel() {
  std::vector<Operation*> operations;
  while (!cursor_.AtEnd()) {
    const char c = cursor_.Peek();
    if (cursor_.Match("{-#")) {
      if (!ReadResources()) return false;
    } else if (c == '#' || c == '!') {
      if (!ReadAlias()) return false;
    } else if (!ReadOperation(&operations)) {
      return false;
    }
  }
  return FillResources() && CheckLocations() && FinishModule(&operations);
}

absl::StatusOr<Program> MlirReader::Read() {
  if (ReadTopLevel()) return std::move(program_);
  return DiagnosticsToStatus(source_, {error_});
}

absl::StatusOr<Program> ReadText(absl::string_view text, absl::string_view name) {
  SourceText source;
  source.name = name;
  source.text = text;
  return ReadText(source);
}

absl::StatusOr<Program> ReadText(const SourceText& source) { return MlirReader(source).Read(); }

std::vector<SourceText> SplitModules(absl::string_view text, absl::string_view name) {
  std::vector<SourceText> parts;
  SourceText part;
  part.name = name;
  size_t begin = 0;
  size_t line = 1;
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    ++line;
    if (text.substr(at, 8) == "// -----") {
      part.text = text.substr(begin, at - begin);
      parts.push_back(part);
      part.first_line = line;
      begin = next;
    }
    at = next;
  }
  part.text = text.substr(begin);
  parts.push_back(part);
  return parts;
}

}  // namespace kashi::stablehlo
