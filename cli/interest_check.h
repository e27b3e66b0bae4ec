// The checks of `kashi reduce`: whether a module is still of interest.
//
//   differs[:A,B]           the engines A and B give different outputs for the same random arguments
//   crashes[:ENGINE]        a signal ends the run, such as a segmentation fault
//   slower[:RATIO[,A,B]]    the engine A takes RATIO times as long as B, or longer
//   fails[:TEXT]            verifying, compiling or running gives an error, which contains the text
//   COMMAND                 the shell runs it with the file in the place of each {}, or as its last argument; exit
//                           status 0 means yes
#ifndef KASHI_CLI_INTEREST_CHECK_H_
#define KASHI_CLI_INTEREST_CHECK_H_

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/child_process.h"
#include "cli/hard_stop.h"
#include "cli/limits.h"
#include "cli/module_file.h"

namespace kashi::cli {

struct InterestCheck {
  enum class Kind { kDiffers, kCrashes, kSlower, kFails, kCommand };
  Kind kind = Kind::kCommand;
  std::string text;      // the command, or the text of the error
  std::string engine_a;  // of kDiffers and kSlower; the engine of the others
  std::string engine_b;
  double ratio = 0;
};

// INVALID_ARGUMENT for one of the words with something else behind the colon, and for engines that do not exist.
absl::StatusOr<InterestCheck> ParseInterestCheck(const std::string& text);

struct InterestOptions {
  std::string check;  // as it was given
  std::vector<std::string> random;
  uint64_t seed = 42;
  std::optional<double> tolerance;
  double check_timeout = 60;  // seconds; 0: no limit
  LimitOptions limits;
};

// The answer, and what it is based on.
struct InterestAnswer {
  bool is_yes = false;
  std::string reason;  // "out0: 3 of 8 elements differ", "exit status 1"
};

// Answers one of the built-in checks but kCrashes, in this process. An answer is never an error: what cannot be run
// does not differ.
InterestAnswer AnswerHere(const InterestCheck& check, const InterestOptions& options, const Interrupt& interrupt,
                          ModuleFile* file);

// Asks about a file in a process of its own, so that no crash ends this one. `output`: the file for what it prints; "":
// nowhere. UNAVAILABLE if the process cannot be started.
absl::StatusOr<InterestAnswer> AskInChild(const InterestCheck& check, const InterestOptions& options,
                                          const std::string& file, const std::string& output,
                                          const std::atomic<bool>& is_unwanted);

}  // namespace kashi::cli

#endif  // KASHI_CLI_INTEREST_CHECK_H_
