#include "cli/temporary_file.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
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
std::array<struct sigaction, kSignals.size()> actions_before;

// Tells the signal handler how to treat the file. kBusy: a thread makes or renames it, so wait for that; that thread
// has blocked the signals, but the threads of the pool have not. kEnding: a handler removes it, and the process ends.
enum FileState { kNone, kBusy, kNamed, kEnding };
std::atomic<FileState> file_state = kNone;
static_assert(std::atomic<FileState>::is_always_lock_free);

sigset_t Signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (int signal_number : kSignals) sigaddset(&signals, signal_number);
  return signals;
}

// No signal arrives in this thread while it lives.
class BlockSignals {
 public:
  BlockSignals() {
    const sigset_t signals = Signals();
    pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

// Changes kNamed to `next`; false: there is no file. Waits while another thread is at it: for ever if that one ends the
// process.
bool TakeFile(FileState next) {
  const struct timespec pause = {0, 100'000};
  for (FileState now = kNamed; !file_state.compare_exchange_strong(now, next); now = kNamed) {
    if (now == kNone) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

void RemoveFile() {
  if (TakeFile(kEnding)) unlink(name_to_remove);
}

// Removes the file, then lets the signal end the process.
void RemoveAndEnd(int signal_number) {
  RemoveFile();
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal_number, &action, nullptr);
  raise(signal_number);
}

// From here on, signals wait until RemoveAtSignal or RemoveNothingAtSignal.
void HoldSignals() {
  file_state = kBusy;
  struct sigaction action = {};
  action.sa_handler = &RemoveAndEnd;
  action.sa_mask = Signals();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &actions_before[i]);
    // An ignored signal, such as SIGHUP under nohup, stays ignored.
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

void RemoveAtSignal(const std::string& name) {
  std::memcpy(name_to_remove, name.c_str(), name.size() + 1);
  file_state = kNamed;
}

void RemoveNothingAtSignal() {
  if (file_state.exchange(kNone) == kNone) return;
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
  if (name.size() >= sizeof name_to_remove) {
    errno = ENAMETOOLONG;
    return SystemError(path);
  }
  // No signal may end the process between the file's making and the noting of its name.
  const BlockSignals block;
  HoldSignals();
  const int descriptor = mkstemp(name.data());
  const absl::Status status = descriptor < 0 ? SystemError(path) : absl::OkStatus();
  if (status.ok()) {
    RemoveAtSignal(name);
  } else {
    RemoveNothingAtSignal();
  }
  KASHI_RETURN_IF_ERROR(status);
  return TemporaryFile(descriptor, std::move(name));
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::exchange(other.name_, "")) {}

TemporaryFile::~TemporaryFile() {
  Close();
  if (name_.empty()) return;
  const BlockSignals block;
  TakeFile(kBusy);
  unlink(name_.c_str());
  RemoveNothingAtSignal();
}

void TemporaryFile::RemoveBeforeExit() { RemoveFile(); }

void TemporaryFile::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

absl::Status TemporaryFile::Become(const std::string& path, bool durable) {
  if (durable && fsync(descriptor_) != 0) return SystemError(path);
  const int descriptor = std::exchange(descriptor_, -1);
  {
    // A handler that removes the file while it is renamed would make an error of a signal.
    const BlockSignals block;
    TakeFile(kBusy);
    if (close(descriptor) != 0 || std::rename(name_.c_str(), path.c_str()) != 0) {
      file_state = kNamed;
      return SystemError(path);
    }
    name_.clear();
    RemoveNothingAtSignal();
  }
  return durable ? SyncDirectoryOf(path) : absl::OkStatus();
}

}  // namespace kashi::cli
