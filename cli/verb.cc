#include "cli/verb.h"

#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "cli/progress.h"
#include "cli/ranks.h"
#include "cli/temporary_file.h"
#include "kashi/array/shape.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/diagnostic.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"

namespace kashi::cli {

using base::Printable;
namespace {

// --durable
bool is_durable = false;

// The mode of a new file. The mode of mkstemp is narrower.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

absl::Status CannotWrite(const std::string& path) { return Unknown("cannot write %s: %s", path, std::strerror(errno)); }

// The contents of a file.
using Pieces = absl::Span<const absl::string_view>;

absl::Status WriteAll(std::FILE* file, Pieces pieces, const std::string& name) {
  bool written = true;
  for (const absl::string_view piece : pieces) {
    written = written && std::fwrite(piece.data(), 1, piece.size(), file) == piece.size();
  }
  return written && std::fflush(file) == 0 ? absl::OkStatus() : CannotWrite(name);
}

// A path of the system for an open file.
bool IsOpenFile(absl::string_view path) {
  return absl::StartsWith(path, "/dev/fd/") || absl::StartsWith(path, "/dev/std") || absl::StartsWith(path, "/proc/");
}

// Appends to a device, a pipe or an open file: a rename cannot replace them.
absl::Status WriteSpecialFile(const std::string& path, Pieces pieces) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (file == nullptr) return CannotWrite(path);
  absl::Status status = WriteAll(file, pieces, path);
  if (std::fclose(file) != 0 && status.ok()) status = CannotWrite(path);
  return status;
}

// The target of the symbolic links at `path`; it need not exist.
std::string FollowLinks(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the limit of Linux; stat has refused more
  std::filesystem::path place = path;
  std::error_code error;
  for (int i = 0; i < kMaxLinks; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(place, error);
    if (error) break;
    place = place.parent_path() / target;
  }
  return place.string();
}

absl::Status WriteAll(int descriptor, absl::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return CannotWrite(path);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ReplaceFile(const std::string& path, mode_t mode, Pieces pieces) {
  KASHI_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Make(path));
  for (const absl::string_view piece : pieces) KASHI_RETURN_IF_ERROR(WriteAll(file.descriptor(), piece, path));
  if (fchmod(file.descriptor(), mode) != 0) return CannotWrite(path);
  return file.Become(path, is_durable);
}

absl::Status WriteFile(const std::string& path, Pieces pieces) {
  struct stat info;
  const bool exists = stat(path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) return CannotWrite(path);
  if (IsOpenFile(path) || (exists && !S_ISREG(info.st_mode))) return WriteSpecialFile(path, pieces);
  if (exists && access(path.c_str(), W_OK) != 0) return CannotWrite(path);
  return ReplaceFile(FollowLinks(path), exists ? info.st_mode & 07777 : NewFileMode(), pieces);
}

}  // namespace

void AddJsonFlag(Verb* verb, bool* json) {
  verb->AddFlag("--json", json, "Print one JSON object per input; for a bad or blank input it has the key `error`");
}

void AddStrictFlag(Verb* verb, bool* strict) {
  static bool lenient = true;  // the default has an option too: a script can state it
  Option* const flag =
      verb->AddFlag("--lenient", &lenient, "Accept sloppy and newer text with a warning (the default)");
  verb->AddFlag("--strict", strict, "Treat warnings about the text as errors")->Excludes(flag);
}

void AddOutputOption(Verb* verb, std::string* path, const std::string& description) {
  verb->AddOption("-o,--output", path, description)->File();
  AddDurableFlag(verb);
}

void AddDurableFlag(Verb* verb) {
  verb->AddFlag("--durable", &is_durable, "Wait until the written files are on the disk (about 10 ms per file)");
}

namespace {

constexpr char kErrorColour[] = "\x1b[1;31m";
constexpr char kWarningColour[] = "\x1b[1;35m";
constexpr char kCaretColour[] = "\x1b[32m";
constexpr char kNoColour[] = "\x1b[0m";

std::string Coloured(absl::string_view text, const char* colour) {
  return StderrTakesColour() ? absl::StrCat(colour, text, kNoColour) : std::string(text);
}

std::string& Errors() {
  static std::string errors;
  return errors;
}

// A message that has a place: "m.mlir:2:8: error: …", the line, the caret. Readers of whole files return such errors.
struct PlacedMessage {
  absl::string_view place;  // "m.mlir:2:8"
  size_t line = 0;
  size_t column = 0;
  absl::string_view error;  // without the line and the caret
  absl::string_view rest;   // from `error` on
};

std::optional<PlacedMessage> SplitPlace(absl::string_view message) {
  constexpr absl::string_view kError = ": error: ";
  const size_t at = message.substr(0, message.find('\n')).find(kError);
  if (at == absl::string_view::npos) return std::nullopt;
  PlacedMessage placed;
  placed.place = message.substr(0, at);
  placed.rest = message.substr(at + kError.size());
  placed.error = placed.rest.substr(0, placed.rest.find('\n'));
  absl::string_view numbers = placed.place;
  for (size_t* number : {&placed.column, &placed.line}) {
    const size_t colon = numbers.rfind(':');
    if (colon == absl::string_view::npos || !absl::SimpleAtoi(numbers.substr(colon + 1), number)) return std::nullopt;
    numbers = numbers.substr(0, colon);
  }
  return placed;
}

// "kashi: error: …" to standard error; or "m.mlir:2:8: error: …".
void PrintError(absl::string_view message) {
  const std::string text = Printable(message);
  const std::optional<PlacedMessage> placed = SplitPlace(text);
  const absl::string_view begin = placed ? placed->place : "kashi", rest = placed ? placed->rest : text;
  absl::StrAppend(&Errors(), begin, ": error: ", rest, "\n");
  PrintNote(absl::StrCat(begin, ": ", Coloured("error:", kErrorColour), " ", rest, "\n"));
}

// Colours the word `error:` or `warning:`, and the carets, which are the last line.
std::string ColourDiagnostic(const std::string& text, Diagnostic::Severity severity) {
  if (!StderrTakesColour()) return text;
  const bool is_error = severity == Diagnostic::Severity::kError;
  const absl::string_view kind = is_error ? "error:" : "warning:";
  const size_t at = text.find(absl::StrCat(": ", kind)) + 2;
  const size_t carets = text.rfind('\n');
  return absl::StrCat(text.substr(0, at), Coloured(kind, is_error ? kErrorColour : kWarningColour),
                      text.substr(at + kind.size(), carets - at - kind.size()),
                      Coloured(text.substr(carets), kCaretColour));
}

}  // namespace

const std::string& PrintedErrors() { return Errors(); }

int Fail(const absl::Status& status) {
  PrintError(status.message());
  return kBadInput;
}

int Fail(const SourceText& source, const std::vector<Diagnostic>& errors) {
  PrintDiagnostics(source, errors);
  return kBadInput;
}

void PrintWarning(absl::string_view message) {
  PrintNote(absl::StrCat("kashi: ", Coloured("warning:", kWarningColour), " ", Printable(message), "\n"));
}

void PrintNote(absl::string_view lines) {
  if (IsSilentRank()) return;
  const ProgressPause pause;
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

int FailUsage(absl::string_view message) {
  PrintError(message);
  PrintNote("Run with --help for more information.\n");
  return kBadUsage;
}

void PrintDiagnostics(const SourceText& source, const std::vector<Diagnostic>& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Diagnostic::Severity::kError) {
      absl::StrAppend(&Errors(), RenderDiagnostic(source, diagnostic), "\n");
    }
    PrintNote(absl::StrCat(ColourDiagnostic(RenderDiagnostic(source, diagnostic), diagnostic.severity), "\n"));
  }
}

std::vector<Diagnostic> ErrorAboutText(const SourceText& source, const absl::Status& status) {
  return {{Diagnostic::Severity::kError, 0, source.text.size(), std::string(status.message())}};
}

SourceText InputLines::line() const { return {"<stdin>", absl::string_view(buffer_, size_), number_}; }

InputLines::~InputLines() { std::free(buffer_); }

bool InputLines::Next() {
  errno = 0;
  const ssize_t size = getline(&buffer_, &capacity_, stdin);
  if (size < 0) {
    // The end of the file does not set errno; an error does, also a lack of memory.
    if (errno != 0) status_ = Unknown("cannot read standard input: %s", std::strerror(errno));
    return false;
  }
  size_ = size > 0 && buffer_[size - 1] == '\n' ? size - 1 : size;
  ++number_;
  return true;
}

bool InputLines::is_blank() const { return absl::StripAsciiWhitespace(line().text).empty(); }

absl::Status NoShapeInInput() { return InvalidArgument("standard input has no shape"); }

absl::StatusOr<Shape> ReadShape(const SourceText& source, bool strict, std::vector<Diagnostic>* diagnostics) {
  ShapeParserOptions options;
  options.strict = strict;
  options.source_name = source.name;
  options.first_line = source.first_line;
  absl::StatusOr<Shape> shape = ParseShape(source.text, options, diagnostics);
  if (!shape.ok() && diagnostics->empty()) *diagnostics = ErrorAboutText(source, shape.status());
  return shape;
}

absl::Status WriteOutput(const std::string& path, absl::string_view text) {
  return WriteOutput(path, absl::MakeConstSpan(&text, 1));
}
absl::Status WriteOutput(const std::string& path, absl::Span<const absl::string_view> pieces) {
  return IsSilentRank() ? absl::OkStatus() : WriteOnThisRank(path, pieces);
}
absl::Status WriteOnThisRank(const std::string& path, absl::Span<const absl::string_view> pieces) {
  if (IsFile(path)) return WriteFile(path, pieces);
  const ProgressPause pause;
  return WriteAll(stdout, pieces, "standard output");
}

int WriteResult(const std::string& path, absl::string_view text) {
  const absl::Status written = WriteOutput(path, text);
  return written.ok() ? kSuccess : Fail(written);
}

bool IsFile(const std::string& path) { return !path.empty() && path != "-" && path != "/dev/stdout"; }

void Answers::Add(absl::string_view text) {
  constexpr size_t kFlushBytes = 1 << 16;
  absl::StrAppend(&waiting_, text);
  if (waiting_.size() > kFlushBytes) Flush();
}

void Answers::AddLine(const Json& object) { Add(absl::StrCat(object.dump(), "\n")); }

void Answers::AddBlankLine() {
  if (json_) AddLine(Json{{"error", "blank line"}});
}

void Answers::AddError(const SourceText& source, const std::vector<Diagnostic>& errors) {
  if (json_) {
    Json answer;
    answer["error"] = errors.front().message;
    answer["column"] = FindLineColumn(source.text, errors.front().begin).column;
    AddLine(answer);
  } else {
    Flush();
    PrintDiagnostics(source, errors);
  }
  exit_status_ = kBadInput;
}

void Answers::AddFileError(const std::string& file, const absl::Status& status) {
  exit_status_ = kBadInput;
  if (json_) {
    absl::string_view message = status.message();
    if (const std::optional<PlacedMessage> placed = SplitPlace(message)) {
      absl::StrAppend(&Errors(), message, "\n");
      return AddLine({{"file", file}, {"error", placed->error}, {"line", placed->line}, {"column", placed->column}});
    }
    absl::StrAppend(&Errors(), "kashi: error: ", message, "\n");
    absl::ConsumePrefix(&message, absl::StrCat(file, ": "));
    return AddLine({{"file", file}, {"error", message}});
  }
  Flush();
  Fail(status);
}

namespace {

Json ErrorRecord(const SourceText& source, const Diagnostic& error) {
  const LineColumn place = FindLineColumn(source.text, error.begin);
  return {{"file", source.name},
          {"error", error.message},
          {"line", source.first_line + place.line - 1},
          {"column", place.column}};
}

}  // namespace

void Answers::AddFileError(const SourceText& source, const std::vector<Diagnostic>& diagnostics) {
  exit_status_ = kBadInput;
  if (!json_) return Warn(source, diagnostics);
  std::vector<Diagnostic> warnings;
  std::optional<Diagnostic> error;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity == Diagnostic::Severity::kWarning) {
      warnings.push_back(diagnostic);
    } else if (!error.has_value()) {
      error = diagnostic;
    }
  }
  if (!error.has_value()) error = warnings.at(0);  // --strict
  Warn(source, warnings);
  absl::StrAppend(&Errors(), RenderDiagnostic(source, *error), "\n");
  AddLine(ErrorRecord(source, *error));
}

void Answers::Warn(const SourceText& source, const std::vector<Diagnostic>& warnings) {
  if (!warnings.empty()) Flush();
  PrintDiagnostics(source, warnings);
}

int Answers::Finish(const absl::Status& input) {
  Flush();
  if (!input.ok()) return Fail(input);
  if (!IsFile(path_) || (waiting_.empty() && exit_status_ != kSuccess)) return exit_status_;
  const absl::Status written = WriteOutput(path_, waiting_);
  return written.ok() ? exit_status_ : Fail(written);
}

void Answers::Flush() {
  if (IsFile(path_) || waiting_.empty()) return;
  const absl::Status written = is_broken_ ? absl::OkStatus() : WriteOutput("", waiting_);
  waiting_.clear();
  if (written.ok()) return;
  is_broken_ = true;
  exit_status_ = Fail(written);
}

namespace {

bool TakesColour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool is_refused = no_color != nullptr && no_color[0] != '\0';
  return IsCapableTerminal(descriptor) && !is_refused;
}

}  // namespace

bool IsCapableTerminal(int descriptor) {
  const char* term = std::getenv("TERM");
  return isatty(descriptor) != 0 && term != nullptr && term[0] != '\0' && std::strcmp(term, "dumb") != 0;
}

size_t TerminalWidth(int descriptor) {
  winsize size = {};
  return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool StdoutTakesColour() { return TakesColour(STDOUT_FILENO); }
bool StderrTakesColour() { return TakesColour(STDERR_FILENO); }

std::string ShellQuoted(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

}  // namespace kashi::cli
