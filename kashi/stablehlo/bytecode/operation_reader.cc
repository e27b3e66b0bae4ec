#include "kashi/stablehlo/bytecode/operation_reader.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/text.h"
#include "kashi/stablehlo/bytecode/byte_cursor.h"
#include "kashi/stablehlo/bytecode/bytecode_file.h"
#include "kashi/stablehlo/bytecode/entries.h"
#include "kashi/stablehlo/program/operation_table.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {
namespace {

// Bits of an operation's mask.
enum Part : uint8_t {
  kHasAttributes = 1,
  kHasResults = 2,
  kHasOperands = 4,
  kHasSuccessors = 8,
  kHasRegions = 0x10,
  kHasUseListOrders = 0x20,
  kHasProperties = 0x40,
};

// An operation takes at least its name, mask and location.
constexpr size_t kSmallestOperation = 3;

// "add_v1" -> "add", 1. False where the name has no version.
bool SplitVersion(absl::string_view name, absl::string_view* base, int* version) {
  const size_t mark = name.rfind("_v");
  if (mark == absl::string_view::npos) return false;
  *base = name.substr(0, mark);
  return absl::SimpleAtoi(name.substr(mark + 2), version) && *version > 0 && *version < 100;
}

// VHLO's operations are those of StableHLO, except for two of func. A return becomes func.return if it ends a function.
const OperationRow* FindVhloOperation(absl::string_view base) {
  const OperationRow* row = FindOperation(absl::StrCat("stablehlo.", base));
  if (row != nullptr || (base != "func" && base != "call")) return row;
  return FindOperation(absl::StrCat("func.", base));
}

}  // namespace

OperationReader::OperationReader(const BytecodeFile& file, Program* program, ReadError* error)
    : file_(file),
      program_(program),
      error_(error),
      defaults_(program),
      normal_form_(program, &defaults_),
      entries_(file, program, &defaults_, error),
      bytes_(file.bytes, file.operations.begin, file.operations.end, "section of operations", error),
      names_(file.operation_names.size()),
      properties_(file.properties.size()) {}

void OperationReader::Read() {
  ReadTop();
  while (bytes_.ok() && !frames_.empty()) Step();
  if (bytes_.ok()) bytes_.ExpectEnd();
}

// A block without arguments that holds the module.
void OperationReader::ReadTop() {
  const size_t begin = bytes_.offset();
  bool has_arguments = false;
  const uint64_t count = bytes_.FlaggedVarint(&has_arguments);
  if (bytes_.ok() && (count != 1 || has_arguments)) return bytes_.Fail(begin, "the file must hold one module");
  auto* module = program_->New<Operation>();
  Frame top(bytes_);
  ReadOperation(module, &top);
  if (!bytes_.ok()) return;
  if (module->name != "builtin.module") return bytes_.Fail(begin, "the file must hold one module");
  program_->module = module;
}

// The next operation of the innermost region, or the next block, or the region's end.
void OperationReader::Step() {
  const size_t depth = frames_.size() - 1;
  Frame& frame = frames_[depth];
  if (frame.operation < frame.operations.size()) {
    Operation* operation = &frame.operations[frame.operation++];
    ReadOperation(operation, &frame);  // may push a frame
  } else if (frame.block < frame.regions[frame.region].blocks.size()) {
    BeginBlock(&frame);
  } else {
    EndRegion();
  }
}

void OperationReader::BeginRegion(Frame* frame) {
  Region& region = frame->regions[frame->region];
  frame->block = 0;
  frame->operation = 0;
  frame->operations = {};
  frame->first_value = values_.size();
  frame->next_value = values_.size();
  const size_t blocks = bytes_.Count(1);
  region.blocks = program_->NewArray<Block>(blocks);
  if (blocks == 0) return;
  const size_t begin = bytes_.offset();
  const uint64_t values = bytes_.Varint();
  // Each value that the enclosing regions still announce takes at least a byte, too.
  const size_t left = file_.operations.end - begin;
  if (values > left || values + undefined_values_ > left) {
    return bytes_.Fail(begin,
                       absl::StrCat("the section of operations is too short for the ", values, " values of a region"));
  }
  undefined_values_ += values;
  values_.resize(values_.size() + values, nullptr);
}

void OperationReader::BeginBlock(Frame* frame) {
  Block& block = frame->regions[frame->region].blocks[frame->block++];
  const size_t begin = bytes_.offset();
  bool has_arguments = false;
  const uint64_t claimed = bytes_.FlaggedVarint(&has_arguments);
  const size_t count = bytes_.CheckCount(begin, claimed, kSmallestOperation);
  if (has_arguments) ReadArguments(frame, &block);
  frame->operations = program_->NewArray<Operation>(count);
  frame->operation = 0;
  const absl::Span<Operation*> operations = program_->NewArray<Operation*>(count);
  for (size_t i = 0; i < count; ++i) operations[i] = &frame->operations[i];
  block.operations = operations;
}

void OperationReader::ReadArguments(Frame* frame, Block* block) {
  const size_t count = bytes_.Count(1);
  block->arguments = program_->NewArray<Value>(count);
  for (size_t i = 0; i < count && bytes_.ok(); ++i) {
    Value& argument = block->arguments[i];
    argument.index = static_cast<int64_t>(i);
    const size_t begin = bytes_.offset();
    bool has_location = true;
    const uint64_t type = file_.version >= 4 ? bytes_.FlaggedVarint(&has_location) : bytes_.Varint();
    const uint64_t location = has_location ? bytes_.Varint() : 0;
    if (!bytes_.ok()) return;
    argument.type = entries_.GetType(type, begin);
    if (has_location) argument.location = entries_.GetLocation(location, begin);
    Define(&argument, frame);
  }
  if (file_.version >= 3 && bytes_.Byte() != 0) SkipUseListOrders(count);
}

void OperationReader::Define(Value* value, Frame* frame) {
  if (frame->next_value == values_.size()) {
    return bytes_.Fail("a region defines more values than it says");
  }
  values_[frame->next_value++] = value;
  --undefined_values_;
}

void OperationReader::EndRegion() {
  Frame& frame = frames_.back();
  if (frame.next_value != values_.size()) return bytes_.Fail("a region defines fewer values than it says");
  values_.resize(frame.first_value);
  if (++frame.region < frame.regions.size()) return BeginRegion(&frame);
  if (frame.has_section) {
    bytes_.ExpectEnd();
    if (bytes_.ok()) bytes_ = frame.after;
  }
  if (frame.is_isolated) scope_ = frame.scope;
  frames_.pop_back();
}

void OperationReader::ReadOperation(Operation* operation, Frame* frame) {
  Header header;
  ReadHeader(&header, operation);
  if (!bytes_.ok()) return;
  const Name* name = FindName(header.name, header.begin);
  if (name == nullptr) return;
  operation->name = name->text;
  if ((header.mask & kHasResults) != 0) ReadResults(operation, frame);
  if ((header.mask & kHasOperands) != 0) ReadOperands(operation);
  if ((header.mask & kHasSuccessors) != 0) {
    return bytes_.Fail(header.begin, absl::StrCat(operation->name, " has successors, which portable artifacts lack"));
  }
  if ((header.mask & kHasUseListOrders) != 0) SkipUseListOrders(operation->results.size());
  if (!bytes_.ok()) return;
  name->is_vhlo ? SetAttributes(header, *name, operation) : SetPlainAttributes(header, *name, operation);
  if (name->is_vhlo && operation->name == "stablehlo.return" && frame->parent != nullptr &&
      frame->parent->name == "func.func") {
    operation->name = FindOperation("func.return")->name;
  }
  if ((header.mask & kHasRegions) != 0) ReadRegions(operation, header);
  if (bytes_.ok() && name->row != nullptr) CheckCounts(*operation, *name->row, header.begin);
}

void OperationReader::ReadHeader(Header* header, Operation* operation) {
  header->begin = bytes_.offset();
  operation->begin = header->begin;
  operation->end = header->begin + 1;
  header->name = bytes_.Index(names_.size(), "names of operations");
  header->mask = bytes_.Byte();
  const size_t location_offset = bytes_.offset();
  const uint64_t location = bytes_.Varint();
  if (!bytes_.ok()) return;
  operation->location = entries_.GetLocation(location, location_offset);
  if ((header->mask & 0x80) != 0) {
    return bytes_.Fail(header->begin, "an operation with an unknown part needs a newer Kashi");
  }
  if ((header->mask & kHasAttributes) != 0) {
    const size_t begin = bytes_.offset();
    header->dictionary = entries_.GetAttribute(bytes_.Varint(), begin);
    if (bytes_.ok() && header->dictionary->kind != Attribute::Kind::kDictionary) {
      return bytes_.Fail(begin, "the attributes of an operation are not a dictionary");
    }
  }
  if ((header->mask & kHasProperties) == 0 || !bytes_.ok()) return;
  const size_t begin = bytes_.offset();
  if (file_.operation_names[header->name].is_registered) {
    header->has_properties = true;
    header->properties = bytes_.Index(properties_.size(), "properties");
    return;
  }
  header->unregistered = entries_.GetAttribute(bytes_.Varint(), begin);
  if (bytes_.ok() && header->unregistered->kind != Attribute::Kind::kDictionary) {
    bytes_.Fail(begin, "the properties of an operation are not a dictionary");
  }
}

const OperationReader::Name* OperationReader::FindName(size_t number, size_t begin) {
  Name& name = names_[number];
  if (!name.text.empty()) return &name;
  const BytecodeOperationName& stored = file_.operation_names[number];
  const BytecodeDialect& dialect = file_.dialects[stored.dialect];
  const auto fail = [&](absl::string_view why) -> const Name* {
    bytes_.Fail(begin, absl::StrCat("operation ", dialect.name, ".", stored.name, " ", why));
    return nullptr;
  };
  if (dialect.dialect == Dialect::kOther) {
    return fail("is of a dialect that Kashi does not read: lower it to StableHLO first");
  }
  if (dialect.dialect == Dialect::kVhlo) {
    absl::string_view base;
    int version = 0;
    if (!SplitVersion(stored.name, &base, &version)) return fail("has no version");
    const OperationRow* row = FindVhloOperation(base);
    if (row == nullptr || version > row->version) return fail("needs a newer Kashi");
    name = {row->name, row, static_cast<int8_t>(version), true};
    return &name;
  }
  const std::string text = absl::StrCat(dialect.name, ".", stored.name);
  name.row = FindOperation(text);
  if (name.row == nullptr && dialect.dialect != Dialect::kChlo) return fail("needs a newer Kashi");
  name.text = name.row == nullptr ? program_->CopyText(text) : name.row->name;
  name.properties = PlainPropertiesOf(name.text, name.row);
  return &name;
}

void OperationReader::ReadResults(Operation* operation, Frame* frame) {
  const size_t count = bytes_.Count(1);
  operation->results = program_->NewArray<Value>(count);
  for (size_t i = 0; i < count && bytes_.ok(); ++i) {
    Value& result = operation->results[i];
    const size_t begin = bytes_.offset();
    const uint64_t type = bytes_.Varint();
    if (!bytes_.ok()) return;
    result.type = entries_.GetType(type, begin);
    result.definition = operation;
    result.index = static_cast<int64_t>(i);
    Define(&result, frame);
  }
}

void OperationReader::ReadOperands(Operation* operation) {
  const size_t count = bytes_.Count(1);
  const absl::Span<Value*> operands = program_->NewArray<Value*>(count);
  for (size_t i = 0; i < count && bytes_.ok(); ++i) {
    const size_t begin = bytes_.offset();
    const size_t number = bytes_.Index(values_.size() - scope_, "values");
    if (!bytes_.ok()) return;
    operands[i] = values_[scope_ + number];
    if (operands[i] == nullptr) return bytes_.Fail(begin, absl::StrCat("value ", number, " is used before it is made"));
  }
  operation->operands = operands;
}

void OperationReader::SkipUseListOrders(size_t values) {
  if (values == 0) return;
  for (size_t left = values > 1 ? bytes_.Count(1) : 1; left > 0 && bytes_.ok(); --left) {
    if (values > 1) bytes_.Index(values, "values");
    const size_t begin = bytes_.offset();
    bool is_pairs = false;
    const uint64_t claimed = bytes_.FlaggedVarint(&is_pairs);
    for (size_t count = bytes_.CheckCount(begin, claimed, 1); count > 0 && bytes_.ok(); --count) bytes_.Varint();
  }
}

void OperationReader::ReadRegions(Operation* operation, const Header& header) {
  Frame frame(bytes_);
  const size_t begin = bytes_.offset();
  const uint64_t claimed = bytes_.FlaggedVarint(&frame.is_isolated);
  operation->regions = program_->NewArray<Region>(bytes_.CheckCount(begin, claimed, 1));
  if (!bytes_.ok() || operation->regions.empty()) return;
  if (frames_.size() == kDeepestRegion) {
    return bytes_.Fail(header.begin, absl::StrCat("regions are nested deeper than ", kDeepestRegion));
  }
  frame.parent = operation;
  frame.regions = operation->regions;
  frame.scope = scope_;
  if (frame.is_isolated) {
    scope_ = values_.size();
    if (file_.version >= 2) {
      uint8_t id = 0;
      const ByteCursor section = bytes_.Section(&id, "section of regions");
      if (bytes_.ok() && id != 4) return bytes_.Fail(begin, "regions must be in a section of kind 4");
      frame.has_section = true;
      frame.after = bytes_;
      bytes_ = section;
    }
  }
  BeginRegion(&frame);
  frames_.push_back(frame);
}

void OperationReader::CheckCounts(const Operation& operation, const OperationRow& row, size_t begin) {
  const auto fail = [&](size_t count, absl::string_view what, absl::string_view expected) {
    bytes_.Fail(begin, absl::StrCat(operation.name, " has ", base::Count(static_cast<int64_t>(count), what),
                                    ", expected ", expected));
  };
  if (!row.operands.Allows(operation.operands.size())) {
    return fail(operation.operands.size(), "operand", row.operands.names.empty() ? "none" : row.operands.names);
  }
  if (!row.results.Allows(operation.results.size())) {
    return fail(operation.results.size(), "result", row.results.names.empty() ? "none" : row.results.names);
  }
  if (row.regions >= 0 && operation.regions.size() != static_cast<size_t>(row.regions)) {
    fail(operation.regions.size(), "region", absl::StrCat(row.regions));
  }
}

}  // namespace kashi::stablehlo
