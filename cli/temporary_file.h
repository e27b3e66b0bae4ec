// A file that is written beside its final name and renamed when it is complete. It is removed after an error, and when
// SIGINT, SIGTERM or SIGHUP ends the process.
//
//   KASHI_ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::Make("out.npy"));
//   … write to file.descriptor() …
//   KASHI_RETURN_IF_ERROR(file.Become("out.npy"));
#ifndef KASHI_CLI_TEMPORARY_FILE_H_
#define KASHI_CLI_TEMPORARY_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kashi::cli {

// One object at a time.
class TemporaryFile {
 public:
  // Opens `PATH.XXXXXX` for writing, readable by its owner only. UNKNOWN if the system refuses.
  static absl::StatusOr<TemporaryFile> Make(const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  int descriptor() const { return descriptor_; }
  // Closes and renames the file. With `durable`, its bytes and its name are on the disk before this returns.
  absl::Status Become(const std::string& path, bool durable);
  // Removes the file, if there is one. Call it only before the process ends: then nobody can write or rename the file.
  static void RemoveBeforeExit();

 private:
  TemporaryFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}
  void Close();

  int descriptor_;
  std::string name_;  // empty: there is none any more
};

}  // namespace kashi::cli

#endif  // KASHI_CLI_TEMPORARY_FILE_H_
