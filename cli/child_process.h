// Commands in processes of their own.
#ifndef KASHI_CLI_CHILD_PROCESS_H_
#define KASHI_CLI_CHILD_PROCESS_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kashi::cli {

struct ChildOptions {
  std::vector<std::string> arguments;  // the program, by its path, and its arguments
  std::string output;                  // the file for its standard output and error; "": nowhere
  double timeout_seconds = 0;          // 0: no limit
};

struct ChildEnd {
  enum class Kind { kExit, kSignal, kTimeout, kUnwanted };
  Kind kind = Kind::kExit;
  int number = 0;  // the exit status, or the signal

  bool is_success() const { return kind == Kind::kExit && number == 0; }
  // "exit status 1", "signal 11 (Segmentation fault)", "no end within the time limit"
  std::string ToString() const;
};

// Runs the command with an empty standard input, in a process group of its own, and waits for its end. At its end,
// after the time limit, and soon after `is_unwanted` becomes true, all processes of the group are ended. It leaves no
// core dumps, and ends when the calling thread does. UNAVAILABLE if the system refuses.
absl::StatusOr<ChildEnd> RunChild(const ChildOptions& options, const std::atomic<bool>& is_unwanted);

// The program of this process, for a child that is the command, too.
std::string OwnProgram();

}  // namespace kashi::cli

#endif  // KASHI_CLI_CHILD_PROCESS_H_
