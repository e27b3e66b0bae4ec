// The folder of `kashi reduce --work`: how far a reduction came, so that a second call goes on.
//
//   reduction.json    which module, check and format it is for
//   best.hlo          the smallest module so far
//   rejected.txt      the fingerprints of the candidates that the check said no to, one a line
#ifndef KASHI_CLI_REDUCTION_FOLDER_H_
#define KASHI_CLI_REDUCTION_FOLDER_H_

#include <cstdio>
#include <optional>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kashi::cli {

// One process at a time uses a folder.
class ReductionFolder {
 public:
  // Creates the folder, or reads the state in it. `identity`: the text that tells which reduction it is for.
  // FAILED_PRECONDITION if the folder is for another one, or if another process uses it; UNAVAILABLE if it cannot be
  // read or written.
  static absl::StatusOr<ReductionFolder> Open(const std::string& path, const std::string& identity);
  ReductionFolder(ReductionFolder&& other) noexcept;
  ReductionFolder& operator=(ReductionFolder&&) = delete;
  ~ReductionFolder();

  // The text of the smallest module of an earlier call; nullopt: there is none.
  const std::optional<std::string>& best() const { return best_; }
  const absl::flat_hash_set<std::string>& rejected() const { return rejected_; }

  absl::Status SetBest(const std::string& text);
  absl::Status AddRejected(const std::string& fingerprint);

 private:
  ReductionFolder() = default;
  std::string File(const char* name) const { return path_ + "/" + name; }
  absl::Status Lock();
  absl::Status Read(const std::string& identity);

  std::string path_;
  int lock_ = -1;
  std::FILE* list_ = nullptr;  // rejected.txt, to append to
  std::optional<std::string> best_;
  absl::flat_hash_set<std::string> rejected_;
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_REDUCTION_FOLDER_H_
