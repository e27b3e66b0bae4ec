#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi::hlo {
namespace {

// Computations within computations as attributes (`to_apply={ … }`); deeper is no program, but an attack on the stack.
constexpr size_t kMaxInlineDepth = 64;
constexpr int64_t kMaxErrors = 20;

// Words that XLA's lexer reserves (docs/spec/hlo.md 1.1), including types.
bool IsTypeName(absl::string_view word) {
  return word != "tuple" && word != "buffer" && primitive_util::IsPrimitiveTypeName(word);
}
bool IsReserved(absl::string_view word) {
  static const auto* const words = new absl::flat_hash_set<absl::string_view>{"true",
                                                                              "false",
                                                                              "inf",
                                                                              "nan",
                                                                              "HloModule",
                                                                              "ENTRY",
                                                                              "ROOT",
                                                                              "FileNames",
                                                                              "FunctionNames",
                                                                              "FileLocations",
                                                                              "StackFrames",
                                                                              "maximal",
                                                                              "replicated",
                                                                              "manual",
                                                                              "unknown",
                                                                              "unreduced",
                                                                              "last_tile_dim_replicate",
                                                                              "shard_as",
                                                                              "shard_like"};
  return words->contains(word) || IsTypeName(word);
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '-' || c == '.'; }

// Whether `text` starts with ["ROOT"] ["%"] NAME "=", or with the brace that ends a computation.
bool BeginsInstruction(absl::string_view text) {
  if (absl::ConsumePrefix(&text, "}")) return true;
  absl::ConsumePrefix(&text, "ROOT ");
  absl::ConsumePrefix(&text, "%");
  const size_t length = std::find_if_not(text.begin(), text.end(), IsNameCharacter) - text.begin();
  return length > 0 && absl::StartsWith(absl::StripLeadingAsciiWhitespace(text.substr(length)), "=");
}

}  // namespace

// ---- Errors ---------------------------------------------------------------------------------------------------------

bool HloReader::Error(size_t begin, size_t end, std::string message) {
  ++errors_;
  diagnostics_.push_back({Diagnostic::Severity::kError, begin, end, std::move(message)});
  return false;
}

void HloReader::Warning(size_t begin, size_t end, std::string message) {
  diagnostics_.push_back({Diagnostic::Severity::kWarning, begin, end, std::move(message)});
}

size_t HloReader::TokenEnd(size_t begin) const {
  TextScanner scan(scan_.text());
  scan.Seek(begin);
  if (!scan.ReadIdentHere().empty()) return scan.offset();
  return std::min(begin + 1, scan_.text().size());
}

// Counts from the position of the last call, because the instructions of a text are in order.
HloTextPlace HloReader::PlaceOf(size_t offset) {
  while (line_end_ < offset) {
    ++line_;
    line_begin_ = line_end_ + 1;
    line_end_ = scan_.text().find('\n', line_begin_);
  }
  return {line_, static_cast<uint32_t>(offset - line_begin_ + 1)};
}

bool HloReader::ErrorHere(absl::string_view expected) {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  return Error(begin, TokenEnd(begin), absl::StrCat("expects ", expected));
}

// ---- Names ----------------------------------------------------------------------------------------------------------

absl::string_view HloReader::ReadName() {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  if (scan_.PeekHere() == '%') {
    scan_.Seek(begin + 1);
    const absl::string_view name = scan_.ReadIdentHere();
    if (name.empty()) Error(begin, begin + 1, "expects a name after %");
    return name;
  }
  const absl::string_view name = scan_.ReadIdentHere();
  if (name.empty()) {
    ErrorHere("name");
    return name;
  }
  if (scan_.PeekHere() == ':') {
    scan_.Seek(scan_.offset() + 1);
    return name;
  }
  const bool is_attribute = scan_.PeekHere() == '=';
  if (!is_attribute && !IsReserved(name)) return name;
  Error(begin, begin + name.size(),
        is_attribute ? absl::StrCat("expects name: write a space between ", name, " and =")
                     : absl::StrCat("expects name: ", name, " is a reserved word; write %", name));
  scan_.Seek(begin);
  return absl::string_view();
}

bool HloReader::IsRefusedName(absl::string_view name) {
  return (absl::StartsWith(name, "__") && !absl::StartsWith(name, "__xla_")) || IsTypeName(name);
}

// XLA's reader refuses names that its compilers reserve, or that read back as something else.
bool HloReader::NameIsLegal(absl::string_view name, size_t begin) {
  if (name[0] != '_' && name.find('.') != absl::string_view::npos) return true;  // most names
  if (!IsRefusedName(name)) return true;
  const std::string suggestion = name[0] == '_' ? absl::StrCat("a", name.substr(1)) : absl::StrCat(name, "_");
  const size_t at = begin + (scan_.text()[begin] == '%');
  return Error(at, at + name.size(),
               absl::StrCat("illegal instruction name: ", name, "; suggest renaming to: ", suggestion));
}

// Skips to the line after the wrong instruction that starts at `begin`, so that it does not hide errors in the
// others. If an instruction was read to its end, its error is at the first token of the next line: that line is not
// skipped.
void HloReader::SkipInstruction(size_t begin) {
  const absl::string_view text = scan_.text();
  size_t end = scan_.offset();
  while (end > begin && absl::ascii_isspace(text[end - 1])) --end;
  const bool is_on_next_line = text.substr(end, scan_.offset() - end).find('\n') != absl::string_view::npos;
  if (is_on_next_line && BeginsInstruction(text.substr(scan_.offset()))) return;
  scan_.Seek(std::min(text.find('\n', scan_.offset()), text.size()));
}

// ---- Computations ---------------------------------------------------------------------------------------------------

// computation = ["ENTRY"] NAME ["(" params ")" "->" shape] "{" instructions "}" [", execution_thread=" STRING]
bool HloReader::ReadComputation() {
  scan_.SkipSpace();
  const size_t begin = scan_.offset();
  bool is_entry = false;
  if (scan_.PeekIdent() == "ENTRY") {
    scan_.ReadIdent();
    is_entry = true;
    scan_.SkipSpace();
  }
  const size_t name_begin = scan_.offset();
  const absl::string_view name = ReadName();
  if (name.empty()) return false;

  std::optional<Shape> result_shape;
  size_t shape_begin = scan_.offset();
  if (scan_.Peek() != '{' && !ReadSignature(&result_shape, &shape_begin)) return false;
  const size_t shape_end = scan_.offset();
  if (is_entry && entry_ != nullptr) return Error(begin, begin + 5, "expects only one ENTRY");
  if (!ReadInstructionList()) return false;

  const HloInstruction* root = scopes_.back()->computation->root_instruction();
  if (result_shape.has_value() && !ShapeUtil::Compatible(root->shape(), *result_shape)) {
    return Error(shape_begin, shape_end,
                 absl::StrCat("Shape of computation ", name, ", ", ShapeUtil::HumanString(*result_shape),
                              ", is not compatible with that of its root instruction ", root->name(), ", ",
                              ShapeUtil::HumanString(root->shape())));
  }
  if (scan_.Peek() == ',') {
    scan_.Match(',');
    std::string thread;
    if (scan_.ReadIdent() != "execution_thread" || scan_.PeekHere() != '=') return ErrorHere("execution_thread=");
    scan_.Match('=');
    if (!ReadStringValue(&thread)) return false;
    scopes_.back()->computation->SetExecutionThread(thread);
  }
  return FinishComputation(is_entry, name, name_begin);
}

// ( name: shape, … ) -> shape. Names and parameter shapes have no effect; the result shape is compared with the root's.
bool HloReader::ReadSignature(std::optional<Shape>* result_shape, size_t* shape_begin) {
  if (!scan_.Match('(')) return ErrorHere("'(' at the beginning of the parameter list");
  if (!scan_.Match(')')) {
    do {
      scan_.SkipSpace();
      if (scan_.PeekHere() == '%') scan_.Match('%');
      if (scan_.ReadIdent().empty()) return ErrorHere("parameter name");
      scan_.Match(':');  // may be left out
      SharedShape shape;
      if (!ReadShape(&shape)) return false;
    } while (scan_.Match(','));
    if (!scan_.Match(')')) return ErrorHere("',' or ')' in the parameter list");
  }
  if (!scan_.Match("->")) return ErrorHere("'->' and the shape of the result");
  scan_.SkipSpace();
  *shape_begin = scan_.offset();
  SharedShape shape;
  if (!ReadShape(&shape)) return false;
  *result_shape = shape->shape();
  return true;
}

// { instructions }. Opens a scope, which FinishComputation closes.
bool HloReader::ReadInstructionList() {
  if (scopes_.size() >= kMaxInlineDepth) return ErrorHere("fewer computations within computations");
  if (!scan_.Match('{')) return ErrorHere("'{' at the beginning of a computation");
  if (!spare_scope_) spare_scope_ = std::make_unique<Scope>();
  scopes_.push_back(std::move(spare_scope_));
  Scope& scope = *scopes_.back();
  scope.names.clear();
  scope.parameter_numbers.clear();
  scope.root = nullptr;
  scope.last = nullptr;
  scope.computation = std::make_unique<HloComputation>("");

  const int64_t errors_before = errors_;
  do {
    scan_.SkipSpace();
    const size_t begin = scan_.offset();
    if (ReadInstruction()) continue;
    if (errors_ >= kMaxErrors || scopes_.size() > 1 || scan_.AtEnd()) return false;
    SkipInstruction(begin);
  } while (scan_.Peek() != '}' && !scan_.AtEnd());
  if (errors_ != errors_before) return false;
  if (!scan_.Match('}')) return ErrorHere("'}' at the end of a computation");
  HloInstruction* root = scope.root ? scope.root : scope.last;
  scope.computation->set_root_instruction(root, /*accept_different_shape=*/true);
  return true;
}

bool HloReader::FinishComputation(bool is_entry, absl::string_view name, size_t name_begin) {
  std::unique_ptr<HloComputation> computation = std::move(scopes_.back()->computation);
  spare_scope_ = std::move(scopes_.back());
  scopes_.pop_back();
  computation->set_name(name);
  if (absl::Status status = computation->FinishParameters(); !status.ok()) {
    return Error(name_begin, TokenEnd(name_begin), std::string(status.message()));
  }
  if (!computation_names_.emplace(name, computation.get()).second && name != "_") {
    return Error(name_begin, TokenEnd(name_begin), absl::StrCat("redefinition of computation ", name));
  }
  if (is_entry) entry_ = computation.get();
  finished_.push_back({std::move(computation), is_entry});
  return true;
}

// An attribute's `{ instructions }` in place of a name.
HloComputation* HloReader::ReadInlineComputation() {
  const size_t begin = scan_.offset();
  if (!ReadInstructionList() || !FinishComputation(/*is_entry=*/false, "_", begin)) return nullptr;
  return finished_.back().computation.get();
}

HloComputation* HloReader::ReadComputationName() {
  if (scan_.Peek() == '{') return ReadInlineComputation();
  const size_t begin = scan_.offset();
  const absl::string_view name = ReadName();
  if (name.empty()) return nullptr;
  const auto found = computation_names_.find(name);
  if (found != computation_names_.end()) return found->second;
  Error(begin, scan_.offset(), absl::StrCat("computation does not exist: ", name));
  return nullptr;
}

}  // namespace kashi::hlo
