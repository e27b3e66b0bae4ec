// A file that is written beside the one that it shall become, and renamed when it is complete. What is left of it goes when
// that fails, and also when SIGINT, SIGTERM or SIGHUP ends the process meanwhile.
//
//   KASHI_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Make("out.npy"));
//   … write to file.descriptor() …
//   KASHI_RETURN_IF_ERROR(file.Become("out.npy"));
#ifndef KASHI_CLI_TEMPORARY_FILE_H_
#define KASHI_CLI_TEMPORARY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kashi::internal::cli {

// One at a time.
class TemporaryFile {
 public:
  // `PATH.XXXXXX`, open for writing, for nobody but its owner. UNKNOWN where the system makes none.
  static absl::StatusOr<TemporaryFile> Make(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  int descriptor() const { return descriptor_; }
  // Closes and renames it. With `durable` its bytes and its name are on the disk before this returns.
  absl::Status Become(const std::string& path, bool durable);

 private:
  TemporaryFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  void Close();

  int descriptor_;
  std::string name_;  // empty: there is none any more
};

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_TEMPORARY_FILE_H_
