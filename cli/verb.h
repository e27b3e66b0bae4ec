// What the verbs of the command share: registering themselves, where text comes from and where it goes.
//
// A verb is a file that defines one Add…Verb function: it adds a verb with its options, examples and a function that runs
// it and returns the exit status: 0 all well, 1 something in the input was bad. Usage errors end with 2; main.cc shows them.
#ifndef KASHI_CLI_VERB_H_
#define KASHI_CLI_VERB_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cli/json.h"
#include "cli/options.h"
#include "kashi/base/diagnostic.h"

namespace kashi {
class Shape;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kBadInput = 1;
inline constexpr int kBadUsage = 2;

void AddShapeVerb(Command* command);
void AddIndexVerb(Command* command);
void AddDrawVerb(Command* command);
void AddConvertVerb(Command* command);
void AddOpsVerb(Command* command);
void AddVerifyVerb(Command* command);
void AddRunVerb(Command* command);
void AddDiffVerb(Command* command);
void AddRelayoutVerb(Command* command);
void AddMemoryVerb(Command* command);
void AddCostVerb(Command* command);
void AddVersionVerb(Command* command);
void AddCompletionsVerb(Command* command);
void AddManVerb(Command* command);

// Options that several verbs have.
void AddJsonFlag(Verb* verb, bool* json);
void AddStrictFlag(Verb* verb, bool* strict);  // and --lenient, the default
// -o, and --durable.
void AddOutputOption(Verb* verb, std::string* path, const std::string& description);
void AddDurableFlag(Verb* verb);

// For an error that has no place in a text: "kashi: error: …" to standard error. Returns kBadInput.
int Fail(const absl::Status& status);
// Shows errors under their place. Returns kBadInput.
int Fail(const SourceText& source, const std::vector<Diagnostic>& errors);
// For a command line whose options do not go together. Returns kBadUsage.
int FailUsage(absl::string_view message);
// "kashi: warning: …" to standard error; of files the message begins with the name.
void PrintWarning(absl::string_view message);
// Lines to standard error as they are.
void PrintNote(absl::string_view lines);
// Warnings or errors, to standard error.
void PrintDiagnostics(const SourceText& source, const std::vector<Diagnostic>& diagnostics);

// An error that is about all of a text, as Fail and Answers take it.
std::vector<Diagnostic> ErrorAboutAll(const SourceText& source, const absl::Status& status);

// Standard input, line by line.
class InputLines {
 public:
  InputLines() = default;
  ~InputLines();
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;

  // False at the end, and where input cannot be read: `status` tells which.
  bool Next();
  // The line under its name and number, without its newline; until the next Next().
  SourceText line() const;
  // Nothing but white space.
  bool is_blank() const;
  const absl::Status& status() const { return status_; }

 private:
  char* buffer_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
  size_t number_ = 0;
  absl::Status status_;
};

// For a verb that needs a shape where all lines are blank.
absl::Status NoShapeInInput();

// Reads one shape. `diagnostics` receives warnings or, after a failure, the errors: at least one.
absl::StatusOr<Shape> ReadShape(const SourceText& source, bool strict, std::vector<Diagnostic>* diagnostics);

// Writes to standard output, or whole to a file: through a temporary file beside it that is renamed, so that the file
// appears complete or not at all. A file that exists keeps its mode; a symbolic link stays, and its target is replaced.
// `path` empty, "-" or "/dev/stdout": standard output.
absl::Status WriteOutput(const std::string& path, absl::string_view text);
// The same of several pieces, one behind the other.
absl::Status WriteOutput(const std::string& path, absl::Span<const absl::string_view> pieces);
// Whether WriteOutput would write a file.
bool IsFile(const std::string& path);

// The answers of a verb, one a question, in the order of the questions, and the exit status that they add up to.
//
//               good answer       bad question                          blank line
//   text        as it is          to standard error, behind the others  nothing
//   --json      a line            {"error":…,"column":…} in its place   {"error":"blank line"}; no failure
//
// Of files the error has more: AddFileError.
//
// Standard output receives them as they come; a file is written whole by Finish, also where some questions were bad. Where
// all were, and nothing is to be told of them, the file stays as it was.
class Answers {
 public:
  Answers(std::string path, bool json) : path_(std::move(path)), json_(json) {}

  void Add(absl::string_view text);
  void AddLine(const Json& object);
  void AddBlankLine();
  // Pre: errors is not empty. --json tells the first one.
  void AddError(const SourceText& source, const std::vector<Diagnostic>& errors);
  // An input, a file as a rule, has no answer. --json: {"file":…,"error":…}, with "line" and "column" where the error has
  // a place; else to standard error, behind the answers so far. Warnings go to standard error in any case.
  void AddFileError(const std::string& file, const absl::Status& status);
  void AddFileError(const SourceText& source, const std::vector<Diagnostic>& diagnostics);
  // An answer that was added says that something is bad.
  void SetBad() { exit_status_ = kBadInput; }
  bool json() const { return json_; }
  // To standard error, behind the answers so far.
  void Warn(const SourceText& source, const std::vector<Diagnostic>& warnings);

  // Standard output takes no more: further answers would be lost.
  bool is_broken() const { return is_broken_; }

  // Writes what waits and returns the exit status. `input`: how reading the questions ended; after an error no file is
  // written, for answers would be missing.
  int Finish(const absl::Status& input = absl::OkStatus());

 private:
  void Flush();

  std::string path_;
  bool json_;
  bool is_broken_ = false;
  std::string waiting_;
  int exit_status_ = kSuccess;
};

// Whether it is a terminal that follows escape sequences: TERM is set and not `dumb`.
bool IsCapableTerminal(int descriptor);

// Colour is for such terminals, whose user has not refused it: NO_COLOR is not set, or empty.
bool StdoutTakesColour();
bool StderrTakesColour();

// "1 buffer", "2 buffers", "1,024 buffers". Nouns take an s.
std::string Count(int64_t count, absl::string_view noun);

// As one word of a shell: in single quotes.
std::string ShellQuoted(const std::string& text);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_VERB_H_
