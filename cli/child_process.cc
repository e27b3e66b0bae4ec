#include "cli/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCannotRun = 127;  // as a shell says it

// In the child of a process with threads: only functions that are safe in a signal handler.
[[noreturn]] void BecomeProgram(const char* const* arguments, int input, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], const_cast<char* const*>(arguments));
  _exit(kCannotRun);
}

// Closed in other children, which are started at the same time.
int OpenFile(const char* path, int flags) { return open(path, flags | O_CLOEXEC, 0644); }

// Whether the process has ended. It stays a zombie, so that its number belongs to nobody else.
bool HasEnded(pid_t process) {
  siginfo_t info = {};
  return waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == process;
}

ChildEnd AwaitEnd(pid_t process, const ChildOptions& options, const std::atomic<bool>& is_unwanted) {
  constexpr std::chrono::microseconds kShortest(200), kLongest(5000);
  const Clock::time_point begin = Clock::now();
  std::chrono::microseconds pause = kShortest;
  while (!HasEnded(process)) {
    if (is_unwanted.load()) return {ChildEnd::Kind::kUnwanted};
    const std::chrono::duration<double> passed = Clock::now() - begin;
    if (options.timeout_seconds > 0 && passed.count() > options.timeout_seconds) return {ChildEnd::Kind::kTimeout};
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 3 / 2, kLongest);
  }
  return {ChildEnd::Kind::kExit};
}

}  // namespace

absl::StatusOr<ChildEnd> RunChild(const ChildOptions& options, const std::atomic<bool>& is_unwanted) {
  std::vector<const char*> arguments;
  for (const std::string& argument : options.arguments) arguments.push_back(argument.c_str());
  arguments.push_back(nullptr);
  const int input = OpenFile("/dev/null", O_RDONLY);
  const int output = options.output.empty() ? OpenFile("/dev/null", O_WRONLY)
                                            : OpenFile(options.output.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  const pid_t process = input < 0 || output < 0 ? -1 : fork();
  if (process == 0) BecomeProgram(arguments.data(), input, output);
  const int error = errno;
  close(input);
  close(output);
  if (process < 0) return Unavailable("cannot start `%s`: %s", options.arguments[0], std::strerror(error));
  setpgid(process, process);  // whoever comes first, child or parent
  ChildEnd end = AwaitEnd(process, options, is_unwanted);
  kill(-process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (end.kind != ChildEnd::Kind::kExit) return end;
  if (WIFSIGNALED(status)) return ChildEnd{ChildEnd::Kind::kSignal, WTERMSIG(status)};
  end.number = WEXITSTATUS(status);
  return end;
}

std::string ChildEnd::ToString() const {
  switch (kind) {
    case Kind::kExit:
      return absl::StrCat("exit status ", number, number == kCannotRun ? " (there is no such command)" : "");
    case Kind::kSignal:
      return absl::StrCat("signal ", number, " (", strsignal(number), ")");
    case Kind::kTimeout:
      return "no end within the time limit";
    case Kind::kUnwanted:
      break;
  }
  return "not wanted any more";
}

std::string OwnProgram() { return "/proc/self/exe"; }

}  // namespace kashi::cli
