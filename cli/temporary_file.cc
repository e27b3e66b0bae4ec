#include "cli/temporary_file.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};

// For the signal handler, which must not allocate memory.
char name_to_remove[PATH_MAX];
volatile sig_atomic_t has_name_to_remove = 0;
std::array<struct sigaction, kSignals.size()> actions_before;

// Removes the file, then lets the signal end the process.
void RemoveAndEnd(int signal_number) {
  if (has_name_to_remove != 0) unlink(name_to_remove);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, nullptr);
  raise(signal_number);
}

void RemoveAtSignal(const std::string& name) {
  if (name.size() >= sizeof name_to_remove) return;
  std::memcpy(name_to_remove, name.c_str(), name.size() + 1);
  has_name_to_remove = 1;
  struct sigaction action = {};
  action.sa_handler = &RemoveAndEnd;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &actions_before[i]);
    // An ignored signal, such as SIGHUP under nohup, stays ignored.
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

void RemoveNothingAtSignal() {
  if (has_name_to_remove == 0) return;
  has_name_to_remove = 0;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_before[i], nullptr);
}

absl::Status SystemError(const std::string& path) { return Unknown("cannot write %s: %s", path, std::strerror(errno)); }

// Flushing the directory puts the name on the disk.
absl::Status SyncDirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  const int descriptor = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return SystemError(path);
  // Some file systems cannot do this and return EINVAL.
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  const absl::Status status = failed ? SystemError(path) : absl::OkStatus();
  close(descriptor);
  return status;
}

}  // namespace

absl::StatusOr<TemporaryFile> TemporaryFile::Make(const std::string& path) {
  std::string name = absl::StrCat(path, ".XXXXXX");
  // Blocks signals until the name of the new file is noted.
  sigset_t signals, before;
  sigemptyset(&signals);
  for (int signal_number : kSignals) sigaddset(&signals, signal_number);
  sigprocmask(SIG_BLOCK, &signals, &before);
  const int descriptor = mkstemp(name.data());
  const absl::Status status = descriptor < 0 ? SystemError(path) : absl::OkStatus();
  if (status.ok()) RemoveAtSignal(name);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  KASHI_RETURN_IF_ERROR(status);
  return TemporaryFile(descriptor, std::move(name));
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::exchange(other.name_, "")) {}

TemporaryFile::~TemporaryFile() {
  Close();
  if (name_.empty()) return;
  unlink(name_.c_str());
  RemoveNothingAtSignal();
}

void TemporaryFile::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

absl::Status TemporaryFile::Become(const std::string& path, bool durable) {
  if (durable && fsync(descriptor_) != 0) return SystemError(path);
  const int descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) != 0 || std::rename(name_.c_str(), path.c_str()) != 0) return SystemError(path);
  name_.clear();
  RemoveNothingAtSignal();
  return durable ? SyncDirectoryOf(path) : absl::OkStatus();
}

}  // namespace kashi::cli
