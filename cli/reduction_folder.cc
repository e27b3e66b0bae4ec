#include "cli/reduction_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "cli/module_file.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/base/status.h"

namespace kashi::cli {
namespace {

constexpr char kIdentity[] = "reduction.json", kBest[] = "best.hlo", kRejected[] = "rejected.txt";
constexpr size_t kFingerprintSize = 32;

bool Exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

}  // namespace

absl::StatusOr<ReductionFolder> ReductionFolder::Open(const std::string& path, const std::string& identity) {
  KASHI_RETURN_IF_ERROR(MakeDirectory(path));
  ReductionFolder folder;
  folder.path_ = path;
  KASHI_RETURN_IF_ERROR(folder.Lock());
  KASHI_RETURN_IF_ERROR(folder.Read(identity));
  folder.list_ = std::fopen(folder.File(kRejected).c_str(), "ae");
  if (folder.list_ == nullptr) return Unavailable("cannot write %s: %s", folder.File(kRejected), std::strerror(errno));
  return folder;
}

ReductionFolder::ReductionFolder(ReductionFolder&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      list_(std::exchange(other.list_, nullptr)),
      best_(std::move(other.best_)),
      rejected_(std::move(other.rejected_)) {}

ReductionFolder::~ReductionFolder() {
  if (list_ != nullptr) std::fclose(list_);
  if (lock_ >= 0) close(lock_);
}

// The file is the lock, so it is not removed: another process may be opening it.
absl::Status ReductionFolder::Lock() {
  const std::string path = File("lock");
  lock_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ < 0) return Unavailable("cannot write %s: %s", path, std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0) return FailedPrecondition("another process works in %s", path_);
  return absl::OkStatus();
}

absl::Status ReductionFolder::Read(const std::string& identity) {
  if (!Exists(File(kIdentity))) return WriteOutput(File(kIdentity), identity);
  KASHI_ASSIGN_OR_RETURN(const std::string found, ReadFile(File(kIdentity)));
  if (found != identity) {
    return FailedPrecondition("%s has the state of another reduction: %s is not for this module, check and format",
                              path_, File(kIdentity));
  }
  if (Exists(File(kBest))) {
    KASHI_ASSIGN_OR_RETURN(best_, ReadFile(File(kBest)));
  }
  if (!Exists(File(kRejected))) return absl::OkStatus();
  KASHI_ASSIGN_OR_RETURN(const std::string list, ReadFile(File(kRejected)));
  for (const absl::string_view line : absl::StrSplit(list, '\n')) {
    if (line.size() == kFingerprintSize) rejected_.emplace(line);  // the last one may be cut
  }
  return absl::OkStatus();
}

absl::Status ReductionFolder::SetBest(const std::string& text) { return WriteOutput(File(kBest), text); }

// A line at a time, so that few are lost if the machine stops.
absl::Status ReductionFolder::AddRejected(const std::string& fingerprint) {
  if (std::fprintf(list_, "%s\n", fingerprint.c_str()) > 0 && std::fflush(list_) == 0) return absl::OkStatus();
  return Unavailable("cannot write %s: %s", File(kRejected), std::strerror(errno));
}

}  // namespace kashi::cli
