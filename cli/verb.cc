#include "cli/verb.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

absl::Status WriteAll(std::FILE* file, absl::string_view text, const std::string& name) {
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  return written ? absl::OkStatus() : Unknown("cannot write %s: %s", name, std::strerror(errno));
}

// The mode that a new file gets: mkstemp's own is narrower.
mode_t NewFileMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// A device or a pipe cannot be renamed over.
bool IsSpecialFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

absl::Status WriteSpecialFile(const std::string& path, absl::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return NotFound("cannot write %s: %s", path, std::strerror(errno));
  absl::Status status = WriteAll(file, text, path);
  if (std::fclose(file) != 0 && status.ok()) status = Unknown("cannot write %s: %s", path, std::strerror(errno));
  return status;
}

absl::Status ReplaceFile(const std::string& path, absl::string_view text) {
  std::string temporary = absl::StrCat(path, ".XXXXXX");
  const int descriptor = mkstemp(temporary.data());
  if (descriptor < 0) return NotFound("cannot write %s: %s", path, std::strerror(errno));
  std::FILE* file = fdopen(descriptor, "w");
  absl::Status status = WriteAll(file, text, path);
  if (fchmod(descriptor, NewFileMode()) != 0 && status.ok()) {
    status = Unknown("cannot write %s: %s", path, std::strerror(errno));
  }
  if (std::fclose(file) != 0 && status.ok()) status = Unknown("cannot write %s: %s", path, std::strerror(errno));
  if (status.ok() && std::rename(temporary.c_str(), path.c_str()) != 0) {
    status = Unknown("cannot write %s: %s", path, std::strerror(errno));
  }
  if (!status.ok()) std::remove(temporary.c_str());
  return status;
}

}  // namespace

CLI::App* AddVerb(Command* command, const std::string& name, const std::string& description,
                  const std::string& examples, std::function<int()> run) {
  CLI::App* verb = command->app.add_subcommand(name, description);
  verb->footer(absl::StrCat("Examples:\n", examples));
  verb->callback([command, run = std::move(run)] { command->exit_status = run(); });
  return verb;
}

int Fail(const absl::Status& status) {
  const std::string message(status.message());
  const bool names_its_place = absl::StrContains(message, ": error: ");
  std::fprintf(stderr, "%s%s\n", names_its_place ? "" : "kashi: error: ", message.c_str());
  return kBadInput;
}

int FailUsage(absl::string_view message) {
  std::fprintf(stderr, "kashi: error: %s\nRun with --help for more information.\n", std::string(message).c_str());
  return kBadUsage;
}

absl::Status WriteOutput(const std::string& path, absl::string_view text) {
  if (path.empty() || path == "-") return WriteAll(stdout, text, "standard output");
  return IsSpecialFile(path) ? WriteSpecialFile(path, text) : ReplaceFile(path, text);
}

bool StdoutTakesColour() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace kashi::cli
