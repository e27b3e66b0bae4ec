// Shared by the verbs of the command: how they are added, how they read text, and how they print answers and errors.
//
// A verb has one file, which defines its Add…Verb function, and one row in cli/verbs.def. Add…Verb adds the verb with
// its options, its help and the function that runs it. That function returns the exit status: 0 for success, 1 for bad
// input. Wrong usage ends with 2.
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
#include "kashi/base/text.h"

namespace kashi {
class Shape;
}  // namespace kashi

namespace kashi::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kBadInput = 1;
inline constexpr int kBadUsage = 2;

// AddShapeVerb(Command* command), and so on.
#define KASHI_VERB(Name) void Add##Name##Verb(Command* command);
#include "cli/verbs.def"

// The groups of verbs in the help of the whole command.
inline constexpr char kArrayVerbs[] = "Shapes and layouts";
inline constexpr char kProgramVerbs[] = "Programs (HLO modules)";
inline constexpr char kOwnVerbs[] = "The command itself";

// Options that several verbs have.
void AddJsonFlag(Verb* verb, bool* json);
void AddStrictFlag(Verb* verb, bool* strict);  // and --lenient, the default
// -o and --durable.
void AddOutputOption(Verb* verb, std::string* path, const std::string& description);
void AddDurableFlag(Verb* verb);

// Prints an error without a place in a text, "kashi: error: …", to standard error. Returns kBadInput.
int Fail(const absl::Status& status);
// Prints errors with their places to standard error. Returns kBadInput.
int Fail(const SourceText& source, const std::vector<Diagnostic>& errors);
// The errors that were printed so far, and those that a silent rank keeps to itself (cli/ranks.h).
const std::string& PrintedErrors();
// Prints an error about the command line. Returns kBadUsage.
int FailUsage(absl::string_view message);
// Prints "kashi: warning: …" to standard error. A message about a file begins with its name.
void PrintWarning(absl::string_view message);
// Prints lines to standard error as they are. A silent rank does not.
void PrintNote(absl::string_view lines);
// Prints warnings or errors with their places to standard error.
void PrintDiagnostics(const SourceText& source, const std::vector<Diagnostic>& diagnostics);

// An error about a whole text.
std::vector<Diagnostic> ErrorAboutText(const SourceText& source, const absl::Status& status);

// Standard input, line by line.
class InputLines {
 public:
  InputLines() = default;
  ~InputLines();
  InputLines(const InputLines&) = delete;
  InputLines& operator=(const InputLines&) = delete;

  // False at the end and after an error, see `status`.
  bool Next();
  // The line with its name and number, without the newline. Valid until the next Next().
  SourceText line() const;
  // The line has only white space.
  bool is_blank() const;
  const absl::Status& status() const { return status_; }

 private:
  char* buffer_ = nullptr;
  size_t capacity_ = 0;
  size_t size_ = 0;
  size_t number_ = 0;
  absl::Status status_;
};

// The error if a verb needs a shape and all lines are blank.
absl::Status NoShapeInInput();

// Reads one shape. `diagnostics` receives warnings or, after a failure, at least one error.
absl::StatusOr<Shape> ReadShape(const SourceText& source, bool strict, std::vector<Diagnostic>* diagnostics);

// Writes a file, or standard output if `path` is empty, "-" or "/dev/stdout". A file appears complete or not at all: it
// is written to a temporary file beside it, which is then renamed. An existing file keeps its mode. A symbolic link
// stays, and its target is replaced. A silent rank (cli/ranks.h) writes nothing.
absl::Status WriteOutput(const std::string& path, absl::string_view text);
// WriteOutput for several pieces, which follow one another.
absl::Status WriteOutput(const std::string& path, absl::Span<const absl::string_view> pieces);
// WriteOutput that also writes on a silent rank (cli/ranks.h), for files of this rank's devices.
absl::Status WriteOnThisRank(const std::string& path, absl::Span<const absl::string_view> pieces);
// Writes the only output of a verb to `path` and returns the exit status of the verb.
int WriteResult(const std::string& path, absl::string_view text);
// Whether WriteOutput would write a file.
bool IsFile(const std::string& path);

// The output of a verb, one answer per input, in the order of the inputs, and the exit status.
//
//               answer            bad input                             blank line
//   text        as it is          error to standard error               nothing
//   --json      a line            a line {"error":…,"column":…}         a line {"error":"blank line"}; not a failure
//
// The error of a file has more keys: see AddFileError.
//
// Answers for standard output are written soon; a file is written as a whole by Finish, also if inputs were bad. If all
// inputs were bad and there is no answer, an existing file stays as it is.
class Answers {
 public:
  Answers(std::string path, bool json) : path_(std::move(path)), json_(json) {}

  void Add(absl::string_view text);
  void AddLine(const Json& object);
  void AddBlankLine();
  // Pre: errors is not empty. --json has the first one.
  void AddError(const SourceText& source, const std::vector<Diagnostic>& errors);
  // An error about a file. --json: {"file":…,"error":…}, with "line" and "column" if the error has a place; text:
  // printed to standard error after the answers so far. Warnings are always printed to standard error.
  void AddFileError(const std::string& file, const absl::Status& status);
  void AddFileError(const SourceText& source, const std::vector<Diagnostic>& diagnostics);
  // Sets exit status 1: an answer reports something bad.
  void SetBad() { exit_status_ = kBadInput; }
  bool json() const { return json_; }
  // Prints warnings to standard error after the answers so far.
  void Warn(const SourceText& source, const std::vector<Diagnostic>& warnings);

  // Standard output cannot be written any more. Further answers are dropped.
  bool is_broken() const { return is_broken_; }

  // Writes the remaining answers and returns the exit status. `input` is the status of reading the inputs: after an
  // error, no file is written, because answers are missing.
  int Finish(const absl::Status& input = absl::OkStatus());

 private:
  void Flush();

  std::string path_;
  bool json_;
  bool is_broken_ = false;
  std::string waiting_;
  int exit_status_ = kSuccess;
};

// Whether the descriptor is a terminal with escape sequences: TERM is set and is not `dumb`.
bool IsCapableTerminal(int descriptor);
// The columns of the terminal; 0 if the descriptor is no terminal, or none that knows its size.
size_t TerminalWidth(int descriptor);

// Whether to use colour: on such a terminal, if NO_COLOR is not set or is empty.
bool StdoutTakesColour();
bool StderrTakesColour();

using base::Count;

// The text in single quotes, as one word for a shell.
std::string ShellQuoted(const std::string& text);

}  // namespace kashi::cli

#endif  // KASHI_CLI_VERB_H_
