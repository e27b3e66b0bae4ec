#include "cli/graphviz.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "kashi/base/status.h"

extern char** environ;

namespace kashi::cli {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
// A file without a name, deleted when it is closed.
using ScratchFile = std::unique_ptr<std::FILE, CloseFile>;

absl::StatusOr<ScratchFile> MakeScratchFile(absl::string_view content) {
  ScratchFile file(std::tmpfile());
  const bool written = file != nullptr &&
                       std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
                       std::fflush(file.get()) == 0 && std::fseek(file.get(), 0, SEEK_SET) == 0;
  if (!written) return Unavailable("cannot write a temporary file for dot: %s", std::strerror(errno));
  return file;
}

std::string ReadAll(std::FILE* file) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  std::fseek(file, 0, SEEK_SET);
  while (const size_t size = std::fread(buffer.data(), 1, buffer.size(), file)) text.append(buffer.data(), size);
  return text;
}

// Starts `dot -Tsvg` on these files.
absl::StatusOr<pid_t> StartDot(std::FILE* in, std::FILE* out, std::FILE* err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
  std::string program = "dot";
  std::string format = "-Tsvg";
  std::array<char*, 3> arguments = {program.data(), format.data(), nullptr};
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return NotFound(
        "SVG needs `dot` of Graphviz, which is not installed (Debian: graphviz); --to dot writes the input of `dot`");
  }
  if (error != 0) return Unavailable("cannot start dot: %s", std::strerror(error));
  return pid;
}

// The status of waitpid; DEADLINE_EXCEEDED after `limit`.
absl::StatusOr<int> WaitFor(pid_t pid, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (true) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return Unavailable("cannot wait for dot: %s", std::strerror(errno));
    if (std::chrono::steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return absl::DeadlineExceededError(absl::StrFormat(
      "dot takes longer than %d s for this graph; show less of it: --max-nodes, --around, --computation",
      limit.count()));
}

}  // namespace

absl::StatusOr<std::string> RenderSvg(absl::string_view dot_text, std::chrono::seconds limit) {
  KASHI_ASSIGN_OR_RETURN(const ScratchFile in, MakeScratchFile(dot_text));
  KASHI_ASSIGN_OR_RETURN(const ScratchFile out, MakeScratchFile(""));
  KASHI_ASSIGN_OR_RETURN(const ScratchFile err, MakeScratchFile(""));
  KASHI_ASSIGN_OR_RETURN(const pid_t pid, StartDot(in.get(), out.get(), err.get()));
  KASHI_ASSIGN_OR_RETURN(const int status, WaitFor(pid, limit));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return Internal("dot failed: %s", absl::StripTrailingAsciiWhitespace(ReadAll(err.get())));
  }
  return ReadAll(out.get());
}

}  // namespace kashi::cli
