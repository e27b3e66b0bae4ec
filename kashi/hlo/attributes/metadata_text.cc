#include "kashi/hlo/attributes/metadata_text.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/string_escapes.h"

namespace kashi::hlo {
namespace {

enum class FieldKind { kString, kInt, kProfileType };

struct Field {
  absl::string_view name;
  FieldKind kind;
  void (OpMetadata::*set_string)(std::string);
  void (OpMetadata::*set_int)(int32_t);
};

// Frequent ones first. metadata_payload has no setter of its own.
constexpr Field kFields[] = {
    {"op_name", FieldKind::kString, &OpMetadata::set_op_name, nullptr},
    {"stack_frame_id", FieldKind::kInt, nullptr, &OpMetadata::set_stack_frame_id},
    {"source_file", FieldKind::kString, &OpMetadata::set_source_file, nullptr},
    {"source_line", FieldKind::kInt, nullptr, &OpMetadata::set_source_line},
    {"op_type", FieldKind::kString, &OpMetadata::set_op_type, nullptr},
    {"source_end_line", FieldKind::kInt, nullptr, &OpMetadata::set_source_end_line},
    {"source_column", FieldKind::kInt, nullptr, &OpMetadata::set_source_column},
    {"source_end_column", FieldKind::kInt, nullptr, &OpMetadata::set_source_end_column},
    {"deduplicated_name", FieldKind::kString, &OpMetadata::set_deduplicated_name, nullptr},
    {"scheduling_name", FieldKind::kString, &OpMetadata::set_scheduling_name, nullptr},
    {"profile_type", FieldKind::kProfileType, nullptr, nullptr},
    {"metadata_payload", FieldKind::kString, nullptr, nullptr},
};

// Reads bytes instead of tokens: most of the time goes into finding the closing quote of op_name.
class MetadataScanner {
 public:
  MetadataScanner(absl::string_view text, size_t at, OpMetadata* metadata)
      : text_(text), at_(at), metadata_(*metadata) {}

  bool Scan();
  size_t at() const { return at_; }
  Diagnostic TakeError() { return std::move(error_); }

 private:
  bool Error(size_t begin, size_t end, std::string message) {
    error_ = {Diagnostic::Severity::kError, begin, end, std::move(message)};
    return false;
  }
  bool ErrorGot(absl::string_view message) {
    array::Lexer lexer(text_, at_);
    return Error(lexer.token().begin, lexer.token().end, absl::StrCat(message, ", got ", array::QuoteToken(lexer)));
  }
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipSpace() {
    while (Peek() == ' ') ++at_;
    // The lexer skips the rest, mostly comments. An unfinished comment begins an invalid token.
    const char c = Peek();
    if (c == '\n' || c == '\t' || c == '\r' || c == '/') at_ = array::Lexer(text_, at_).token().begin;
  }
  bool Match(char c) {
    SkipSpace();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool ScanField();
  bool ScanString(std::string* value);
  bool ScanInt(int64_t* value);
  bool ScanInt32(const Field& field);
  bool ScanProfileTypes();

  absl::string_view text_;
  size_t at_;
  OpMetadata& metadata_;
  unsigned seen_ = 0;  // bit i: kFields[i] has been read
  Diagnostic error_;
};

bool MetadataScanner::Scan() {
  if (!Match('{')) return ErrorGot("expects '{' to start sub attributes");
  while (!Match('}')) {
    Match(',');
    SkipSpace();
    if (!ScanField()) return false;
  }
  return true;
}

bool MetadataScanner::ScanField() {
  const size_t begin = at_;
  size_t end = begin;
  while (end < text_.size() && (absl::ascii_isalnum(text_[end]) || text_[end] == '_')) ++end;
  if (end == text_.size() || text_[end] != '=' || end == begin)
    return ErrorGot("expects attribute name, such as op_name=, or `}`");
  const absl::string_view name = text_.substr(begin, end - begin);
  size_t i = 0;
  while (i < std::size(kFields) && kFields[i].name != name) ++i;
  if (i == std::size(kFields)) {
    return Error(begin, end, absl::StrCat("unexpected attribute \"", name, "\": metadata has no field of this name"));
  }
  if (seen_ & (1u << i)) return Error(begin, end, absl::StrCat("a second ", name, " in one metadata"));
  seen_ |= 1u << i;
  at_ = end + 1;
  SkipSpace();
  const Field& field = kFields[i];
  if (field.kind == FieldKind::kInt) return ScanInt32(field);
  if (field.kind == FieldKind::kProfileType) return ScanProfileTypes();
  std::string value;
  if (!ScanString(&value)) return false;
  if (field.set_string != nullptr) {
    (metadata_.*field.set_string)(std::move(value));
  } else {
    metadata_.mutable_metadata_payload()->set_value(std::move(value));
  }
  return true;
}

bool MetadataScanner::ScanString(std::string* value) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return ErrorGot("expects string");
  const size_t begin = at_ + 1;
  bool escaped = false;
  size_t end = text_.find(quote, begin);
  // A quote after a backslash does not end the string, so scan again from the beginning.
  if (end != absl::string_view::npos && std::memchr(text_.data() + begin, '\\', end - begin) != nullptr) {
    escaped = true;
    end = begin;
    while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
  }
  if (end >= text_.size()) return Error(at_, text_.size(), "a string that does not end");
  const absl::string_view inside = text_.substr(begin, end - begin);
  if (!escaped) {
    value->assign(inside.data(), inside.size());
  } else if (!CUnescapeTo(inside, value)) {
    return Error(at_, end + 1, "a string with an escape sequence that C does not have");
  }
  at_ = end + 1;
  return true;
}

// The lexer handles all tokens that begin like an integer but are none (`1.5`, `1_2`, …).
bool MetadataScanner::ScanInt(int64_t* value) {
  array::Lexer lexer(text_, at_);
  if (lexer.kind() != array::Token::Kind::kInt) return ErrorGot("expects integer");
  *value = lexer.token().int_value;
  if (lexer.token().wrapped) *value = std::numeric_limits<int64_t>::max();
  at_ = lexer.token().end;
  return true;
}

bool MetadataScanner::ScanInt32(const Field& field) {
  const size_t begin = at_;
  int64_t value = 0;
  if (!ScanInt(&value)) return false;
  if (value != static_cast<int32_t>(value)) {
    return Error(begin, at_, absl::StrCat(field.name, " has 32 bits, got ", text_.substr(begin, at_ - begin)));
  }
  (metadata_.*field.set_int)(static_cast<int32_t>(value));
  return true;
}

bool MetadataScanner::ScanProfileTypes() {
  if (!Match('{')) return ErrorGot("expected `{` to start profile_type");
  if (Match('}')) return true;
  do {
    SkipSpace();
    const size_t begin = at_;
    int64_t value = 0;
    if (!ScanInt(&value)) return false;
    if (value < INVALID || value > INTEGER) {
      return Error(begin, at_, absl::StrCat("a profile type is 0, 1, 2 or 3, got ", text_.substr(begin, at_ - begin)));
    }
    metadata_.add_profile_type(static_cast<ProfileType>(value));
  } while (Match(','));
  return Match('}') || ErrorGot("expected `}` to end profile_type");
}

// Prints the present fields, with a space between two.
class MetadataPrinter {
 public:
  explicit MetadataPrinter(Printer* printer) : printer_(*printer) {}

  void PrintString(absl::string_view label, absl::string_view value) {
    if (!value.empty()) PrintPresentString(label, value);
  }
  void PrintPresentString(absl::string_view label, absl::string_view value) {
    PrintLabel(label);
    printer_.Append("\"");
    AppendCEscaped(&printer_, value);
    printer_.Append("\"");
  }
  void PrintInt(absl::string_view label, int64_t value) {
    if (value == 0) return;
    PrintLabel(label);
    printer_.Append(value);
  }
  // `label` ends in `=` and begins with a space, which is omitted for the first field.
  void PrintLabel(absl::string_view label) {
    printer_.Append(first_ ? label.substr(1) : label);
    first_ = false;
  }

 private:
  Printer& printer_;
  bool first_ = true;
};

}  // namespace

bool ParseMetadataPrefix(array::Lexer* lexer, OpMetadata* metadata, std::vector<Diagnostic>* diagnostics) {
  metadata->Clear();
  MetadataScanner scanner(lexer->text(), lexer->token().begin, metadata);
  if (!scanner.Scan()) {
    diagnostics->push_back(scanner.TakeError());
    return false;
  }
  lexer->MoveTo(scanner.at());
  return true;
}

void PrintMetadata(Printer* printer, const OpMetadata& metadata) {
  MetadataPrinter fields(printer);
  printer->Append("{");
  fields.PrintString(" op_type=", metadata.op_type());
  fields.PrintString(" op_name=", metadata.op_name());
  fields.PrintString(" source_file=", metadata.source_file());
  fields.PrintInt(" source_line=", metadata.source_line());
  fields.PrintInt(" source_end_line=", metadata.source_end_line());
  fields.PrintInt(" source_column=", metadata.source_column());
  fields.PrintInt(" source_end_column=", metadata.source_end_column());
  if (!metadata.profile_type().empty()) {
    fields.PrintLabel(" profile_type={");
    AppendJoin(printer, metadata.profile_type(), ",",
               [](Printer* out, ProfileType type) { out->Append(static_cast<int>(type)); });
    printer->Append("}");
  }
  fields.PrintString(" deduplicated_name=", metadata.deduplicated_name());
  if (!metadata.scheduling_name().empty()) {
    fields.PrintLabel(" scheduling_name=");
    AppendCat(printer, "\"", metadata.scheduling_name(), "\"");
  }
  fields.PrintInt(" stack_frame_id=", metadata.stack_frame_id());
  if (metadata.has_metadata_payload()) {
    fields.PrintPresentString(" metadata_payload=", metadata.metadata_payload().value());
  }
  printer->Append("}");
}

bool IsMetadataPrinted(const OpMetadata& metadata) {
  return !metadata.op_name().empty() || !metadata.op_type().empty() || !metadata.source_file().empty() ||
         !metadata.scheduling_name().empty() || metadata.has_metadata_payload();
}

}  // namespace kashi::hlo
