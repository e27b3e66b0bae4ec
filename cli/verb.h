// What the verbs of the command share: registering themselves, where text comes from and where it goes.
//
// A verb is a file that defines one Add…Verb function: it adds a subcommand with its options, examples and a callback. The
// callback returns the exit status through `Run`: 0 all well, 1 something in the input was bad. Usage errors are CLI11's
// and end with 2.
#ifndef KASHI_CLI_VERB_H_
#define KASHI_CLI_VERB_H_

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace kashi::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kBadInput = 1;
inline constexpr int kBadUsage = 2;

// The command line and the exit status that a verb leaves.
struct Command {
  CLI::App app;
  int exit_status = kSuccess;
};

// Adds a subcommand; `examples` are lines that --help shows as they are, `run` is called when it was chosen.
CLI::App* AddVerb(Command* command, const std::string& name, const std::string& description,
                  const std::string& examples, std::function<int()> run);

void AddShapeVerb(Command* command);
void AddIndexVerb(Command* command);
void AddDrawVerb(Command* command);
void AddVersionVerb(Command* command);

// Prints the message of an error to standard error, with "kashi: error: " in front unless it names its place itself.
// Returns kBadInput.
int Fail(const absl::Status& status);
// For a command line that CLI11 could not know to be wrong. Returns kBadUsage.
int FailUsage(absl::string_view message);

// Writes to standard output, or whole to a file: through a temporary file beside it that is renamed, so that the file
// appears complete or not at all. `path` empty or "-": standard output.
absl::Status WriteOutput(const std::string& path, absl::string_view text);

// Colour is for terminals whose user has not refused it (NO_COLOR).
bool StdoutTakesColour();

}  // namespace kashi::cli

#endif  // KASHI_CLI_VERB_H_
