// Operations: results, the generic form, regions; values by name.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/base/text.h"
#include "kashi/stablehlo/program/type_text.h"
#include "kashi/stablehlo/text/mlir_reader.h"
#include "kashi/stablehlo/text/pretty_forms.h"

namespace kashi::stablehlo {

namespace {

constexpr absl::string_view kReadableDialects[] = {"builtin",     "func", "stablehlo", "chlo",   "check",
                                                   "interpreter", "sdy",  "arith",     "tensor", "shape"};

bool SameType(const Type& a, const Type& b) { return &a == &b || TypeText(a) == TypeText(b); }

// The number of a name of digits without leading zeros, at most `limit`; -1 for other names.
int64_t NumberOfName(absl::string_view name, size_t limit) {
  if (name.empty() || name.size() > 9 || (name[0] == '0' && name.size() > 1)) return -1;
  int64_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return static_cast<size_t>(number) <= limit ? number : -1;
}

}  // namespace

// ---- Values ---------------------------------------------------------------------------------------------------------

// The table of numbers grows to the largest number, so that numbers which the text's size does not pay for are names.
MlirReader::ValueEntry* MlirReader::FindEntry(absl::string_view name, bool create) {
  const int64_t number = NumberOfName(name, source_.text.size());
  if (number >= 0) {
    if (static_cast<size_t>(number) >= numbered_.size()) {
      if (!create) return nullptr;
      numbered_.resize(static_cast<size_t>(number) + 1);
    }
    return &numbered_[static_cast<size_t>(number)];
  }
  if (create) return &named_[name];
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : &found->second;
}

bool MlirReader::Define(absl::string_view name, size_t offset, Value* first, int64_t count) {
  ValueEntry* entry = FindEntry(name, true);
  if (entry->first != nullptr && entry->log_index >= first_visible_) {
    return Error(offset, offset + 1 + name.size(), absl::StrCat("%", name, " is defined already"));
  }
  log_.push_back({name, *entry});
  *entry = {first, count, log_.size() - 1};
  return true;
}

void MlirReader::Forget(size_t log_size) {
  while (log_.size() > log_size) {
    *FindEntry(log_.back().name, true) = log_.back().before;
    log_.pop_back();
  }
}

bool MlirReader::ReadOperand(OperationDraft* draft) {
  if (cursor_.Peek() != '%') return ErrorHere("a value, `%name`");
  const size_t begin = cursor_.offset();
  cursor_.Seek(begin + 1);
  const absl::string_view name = cursor_.ReadSuffix();
  const ValueEntry* entry = FindEntry(name, false);
  if (entry == nullptr || entry->first == nullptr || entry->log_index < first_visible_) {
    return Error(begin, cursor_.offset(), absl::StrCat("%", name, " is used before its definition"));
  }
  int64_t index = 0;
  const bool has_index = cursor_.PeekHere() == '#';
  if (has_index) {
    cursor_.Seek(cursor_.offset() + 1);
    if (!ReadInt(&index)) return false;
  }
  if (index < 0 || index >= entry->count) {
    return Error(begin, cursor_.offset(), absl::StrCat("%", name, " has ", base::Count(entry->count, "result")));
  }
  if (!has_index && entry->count != 1) {
    return Error(begin, cursor_.offset(),
                 absl::StrCat("%", name, " has ", base::Count(entry->count, "result"), ": say which, %", name, "#0"));
  }
  draft->operands.push_back(entry->first + index);
  return true;
}

bool MlirReader::ReadOperands(char close, OperationDraft* draft) {
  if (cursor_.Match(close)) return true;
  do {
    if (!ReadOperand(draft)) return false;
  } while (cursor_.Match(','));
  return Expect(close, "at the end of the operands");
}

bool MlirReader::CheckOperandTypes(absl::Span<const Type* const> types, const OperationDraft& draft, size_t begin) {
  if (types.size() != draft.operands.size()) {
    return Error(begin, cursor_.offset(),
                 absl::StrCat(base::Count(static_cast<int64_t>(types.size()), "type"), " for ",
                              base::Count(static_cast<int64_t>(draft.operands.size()), "operand")));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (SameType(*types[i], *draft.operands[i]->type)) continue;
    return Error(
        begin, cursor_.offset(),
        absl::StrCat("operand ", i, " has type ", TypeText(*draft.operands[i]->type), ", not ", TypeText(*types[i])));
  }
  return true;
}

// ---- Attributes of an operation -------------------------------------------------------------------------------------

void MlirReader::AddAttribute(absl::string_view name, const Attribute* value, OperationDraft* draft) {
  NamedAttribute attribute;
  attribute.name = name;
  attribute.value = value;
  draft->attributes.push_back(attribute);
}

bool MlirReader::ReadOptionalAttributes(OperationDraft* draft) {
  return cursor_.Peek() != '{' || ReadDictionary(&draft->attributes);
}

// ---- Operations -----------------------------------------------------------------------------------------------------

bool MlirReader::ReadResultNames(absl::InlinedVector<ResultName, 4>* names) {
  if (!AtValue()) return true;
  do {
    ResultName name;
    cursor_.SkipSpace();
    name.offset = cursor_.offset();
    if (!cursor_.Match('%')) return ErrorHere("a result, `%name`");
    name.name = cursor_.ReadSuffix();
    if (name.name.empty()) return ErrorHere("a name after `%`");
    if (cursor_.Match(':')) {
      if (!ReadInt(&name.count)) return false;
      if (name.count < 1) return Error(name.offset, cursor_.offset(), "a group of results has at least one");
    }
    names->push_back(name);
  } while (cursor_.Match(','));
  return Expect('=', "after results");
}

bool MlirReader::UnknownOperation(absl::string_view name, size_t begin, size_t end) {
  const absl::string_view dialect = name.substr(0, name.find('.'));
  if (dialect == name) return Error(begin, end, absl::StrCat("no operation is called `", name, "`"));
  if (std::find(std::begin(kReadableDialects), std::end(kReadableDialects), dialect) != std::end(kReadableDialects)) {
    return Error(begin, end, absl::StrCat("the dialect `", dialect, "` has no operation `", name, "`"));
  }
  absl::string_view advice = "lower it to StableHLO first";
  if (dialect == "mhlo") advice = "convert it first: mlir-hlo-opt --hlo-legalize-to-stablehlo";
  if (dialect == "vhlo") advice = "convert it first: stablehlo-opt --vhlo-legalize-to-stablehlo";
  return Error(begin, end, absl::StrCat("`", name, "`: the dialect `", dialect, "` is not read here; ", advice));
}

bool MlirReader::FindOperationName(absl::string_view name, OperationDraft* draft) {
  draft->row = stablehlo::FindOperation(name);
  draft->name = draft->row != nullptr ? draft->row->name : name;
  if (draft->row != nullptr) return true;
  const absl::string_view dialect = name.substr(0, name.find('.'));
  // In dialects outside of the table, any operation is read; the conversion knows which ones it supports.
  for (const absl::string_view open : {"chlo", "check", "interpreter", "arith", "tensor", "shape"}) {
    if (dialect == open && dialect != name) return true;
  }
  return UnknownOperation(name, draft->begin, draft->end);
}

bool MlirReader::ReadOperationName(OperationDraft* draft, bool* generic) {
  *generic = cursor_.Peek() == '"';
  draft->begin = cursor_.offset();
  absl::string_view name;
  if (*generic) {
    if (!ReadString(&name)) return false;
  } else {
    name = cursor_.ReadWord();
    if (name == "stablehlo.cross" && cursor_.Match("-replica-sum")) name = "stablehlo.cross-replica-sum";
    if (name.empty()) return ErrorHere("an operation");
    if (name == "module") name = "builtin.module";
    if (name == "call") name = "func.call";
    if (name == "return") name = "func.return";
  }
  draft->end = cursor_.offset();
  return FindOperationName(name, draft);
}

bool MlirReader::ReadSignature(OperationDraft* draft) {
  if (!Expect(':', "before the types")) return false;
  absl::InlinedVector<const Type*, 4> types;
  cursor_.SkipSpace();
  const size_t begin = cursor_.offset();
  if (!ReadTypeOrList(&types) || !CheckOperandTypes(types, *draft, begin)) return false;
  if (!cursor_.Match("->")) return ErrorHere("`->` before the result types");
  return ReadTypeOrList(&draft->result_types);
}

// "name"(%a) <{properties}> ({regions}) {attributes} : (T) -> T
bool MlirReader::ReadGeneric(OperationDraft* draft) {
  if (!Expect('(', "before the operands") || !ReadOperands(')', draft)) return false;
  if (cursor_.Peek() == '[') return ErrorHere("an operation without successors");
  if (cursor_.Match('<') && (!ReadDictionary(&draft->attributes) || !Expect('>', "after properties"))) return false;
  if (cursor_.Match('(')) {
    const bool isolated = draft->name == "builtin.module" || draft->name == "func.func";
    do {
      if (!ReadRegion({}, draft, isolated)) return false;
    } while (cursor_.Match(','));
    if (!Expect(')', "after regions")) return false;
  }
  return ReadOptionalAttributes(draft) && ReadSignature(draft);
}

bool MlirReader::ReadOperation(std::vector<Operation*>* operations) {
  absl::InlinedVector<ResultName, 4> names;
  OperationDraft draft;
  bool generic = false;
  if (!ReadResultNames(&names) || !ReadOperationName(&draft, &generic)) return false;
  if (generic ? !ReadGeneric(&draft) : !ReadPrettyForm(this, &draft)) return false;
  return Finish(&draft, names, operations);
}

bool MlirReader::Finish(OperationDraft* draft, absl::Span<const ResultName> names,
                        std::vector<Operation*>* operations) {
  if (!CheckCounts(*draft)) return false;
  Operation* operation = program_.New<Operation>();
  operation->name = draft->name;
  operation->begin = draft->begin;
  operation->end = draft->end;
  operation->operands = program_.CopyArray<Value*>(draft->operands);
  operation->regions = program_.NewArray<Region>(draft->regions.size());
  std::copy(draft->regions.begin(), draft->regions.end(), operation->regions.begin());
  operation->results = program_.NewArray<Value>(draft->result_types.size());
  for (size_t i = 0; i < operation->results.size(); ++i) {
    if (!SetType(draft->result_types[i], draft->begin, draft->end, &operation->results[i])) return false;
    operation->results[i].definition = operation;
    operation->results[i].index = static_cast<int64_t>(i);
  }
  if (!NormaliseAttributes(draft, operation) || !ReadOptionalLocation(&operation->location)) return false;
  operations->push_back(operation);
  return DefineResults(operation, names);
}

bool MlirReader::NormaliseAttributes(OperationDraft* draft, Operation* operation) {
  const absl::Status status = normal_form_.SetAttributes(draft->attributes, draft->row, operation);
  return status.ok() || Error(draft->begin, draft->end, std::string(status.message()));
}

// Checks the numbers of operands, results and regions against the table.
bool MlirReader::CheckCounts(const OperationDraft& draft) {
  if (draft.row == nullptr) return true;
  const auto fail = [&](size_t count, absl::string_view what, absl::string_view expected) {
    return Error(draft.begin, draft.end,
                 absl::StrCat(draft.name, " has ", base::Count(static_cast<int64_t>(count), what), ", expected ",
                              expected.empty() ? "none" : expected));
  };
  const OperationRow& row = *draft.row;
  if (!row.operands.Allows(draft.operands.size())) return fail(draft.operands.size(), "operand", row.operands.names);
  if (!row.results.Allows(draft.result_types.size())) {
    return fail(draft.result_types.size(), "result", row.results.names);
  }
  const bool regions_fit = row.regions < 0 || draft.regions.size() == static_cast<size_t>(row.regions);
  return regions_fit || fail(draft.regions.size(), "region", absl::StrCat(row.regions));
}

bool MlirReader::DefineResults(Operation* operation, absl::Span<const ResultName> names) {
  const int64_t results = static_cast<int64_t>(operation->results.size());
  if (names.empty()) {
    return results == 0 ||
           Error(operation->begin, operation->end, absl::StrCat(base::Count(results, "result"), " without a name"));
  }
  int64_t at = 0;
  for (const ResultName& name : names) {
    if (name.count > results - at) {
      return Error(name.offset, name.offset + 1 + name.name.size(),
                   absl::StrCat("more names than results: `", operation->name, "` has ", results));
    }
    if (!Define(name.name, name.offset, &operation->results[static_cast<size_t>(at)], name.count)) return false;
    at += name.count;
  }
  return at == results || Error(names.front().offset, names.front().offset + 1 + names.front().name.size(),
                                absl::StrCat(base::Count(at, "name"), " for ", base::Count(results, "result")));
}

// ---- Regions --------------------------------------------------------------------------------------------------------

bool MlirReader::ReadArgument(NamedArgument* argument) {
  cursor_.SkipSpace();
  argument->offset = cursor_.offset();
  if (!cursor_.Match('%')) return ErrorHere("an argument, `%name`");
  argument->name = cursor_.ReadSuffix();
  if (!Expect(':', "before the type of an argument")) return false;
  argument->type = ReadType();
  return argument->type != nullptr;
}

bool MlirReader::ReadRegion(absl::Span<const NamedArgument> arguments, OperationDraft* draft, bool isolated) {
  const Depth depth(this, kMaxRegionDepth, &region_depth_);
  if (!depth.ok() || !Expect('{', "before a region")) return false;
  const size_t log_size = log_.size();
  const size_t visible = first_visible_;
  if (isolated) first_visible_ = log_size;
  Region region;
  if (!ReadBlocks(arguments, &region)) return false;
  Forget(log_size);
  first_visible_ = visible;
  draft->regions.push_back(region);
  return Expect('}', "at the end of a region");
}

bool MlirReader::ReadBlocks(absl::Span<const NamedArgument> arguments, Region* region) {
  std::vector<Block> blocks;
  if (cursor_.Peek() != '}' || !arguments.empty()) {
    bool labelled = cursor_.Peek() == '^';
    do {
      ArgumentList own(arguments.begin(), arguments.end());
      if (labelled && !ReadBlockLabel(&own)) return false;
      blocks.emplace_back();
      if (!ReadBlock(own, &blocks.back())) return false;
      labelled = true;
      arguments = {};
    } while (cursor_.Peek() == '^');
  }
  region->blocks = program_.NewArray<Block>(blocks.size());
  std::copy(blocks.begin(), blocks.end(), region->blocks.begin());
  return true;
}

// ^bb0(%a: T loc(…), %b: T):
bool MlirReader::ReadBlockLabel(ArgumentList* arguments) {
  cursor_.Match('^');
  if (cursor_.ReadSuffix().empty()) return ErrorHere("a name after `^`");
  if (cursor_.Match('(') && !cursor_.Match(')')) {
    do {
      NamedArgument argument;
      if (!ReadArgument(&argument) || !ReadOptionalLocation(&argument.location)) return false;
      arguments->push_back(argument);
    } while (cursor_.Match(','));
    if (!Expect(')', "after the arguments of a block")) return false;
  }
  return Expect(':', "after the label of a block");
}

bool MlirReader::ReadBlock(absl::Span<const NamedArgument> arguments, Block* block) {
  block->arguments = program_.NewArray<Value>(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    Value* value = &block->arguments[i];
    if (!SetType(arguments[i].type, arguments[i].offset, arguments[i].offset + 1, value)) return false;
    value->index = static_cast<int64_t>(i);
    value->location = arguments[i].location;
    if (!arguments[i].name.empty() && !Define(arguments[i].name, arguments[i].offset, value, 1)) return false;
  }
  std::vector<Operation*> operations;
  while (cursor_.Peek() != '}' && cursor_.Peek() != '^') {
    if (!ReadOperation(&operations)) return false;
  }
  block->operations = program_.CopyArray<Operation*>(operations);
  return true;
}

}  // namespace kashi::stablehlo
