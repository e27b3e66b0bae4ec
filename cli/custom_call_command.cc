#include "cli/custom_call_command.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/npy_file.h"
#include "cli/verb.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {
namespace {

// A temporary directory, removed by the destructor.
class ScratchDirectory {
 public:
  ScratchDirectory() = default;
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  absl::Status Make() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "kashi-call-XXXXXX").string();
    if (error || mkdtemp(path.data()) == nullptr) return Unavailable("cannot create the temporary directory %s", path);
    path_ = std::move(path);
    return absl::OkStatus();
  }
  const std::string& path() const { return path_; }
  std::string File(const char* kind, size_t i) const { return absl::StrCat(path_, "/", kind, i, ".npy"); }

 private:
  std::string path_;
};

std::vector<ShapeIndex> LeavesOf(const Shape& shape) {
  std::vector<ShapeIndex> leaves;
  ShapeUtil::ForEachSubshape(shape, [&](const Shape& part, const ShapeIndex& index) {
    if (part.IsArray()) leaves.push_back(index);
  });
  return leaves;
}

absl::Status WriteOperands(absl::Span<const Literal* const> operands, const ScratchDirectory& directory) {
  size_t file = 0;
  for (const Literal* operand : operands) {
    for (const ShapeIndex& leaf : LeavesOf(operand->shape())) {
      KASHI_RETURN_IF_ERROR(WriteNpyFile(directory.File("in", file++), LiteralSlice(*operand, leaf)));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> ReadResult(const Shape& shape, const ScratchDirectory& directory) {
  KASHI_ASSIGN_OR_RETURN(Literal result, Literal::Make(shape));
  size_t file = 0;
  for (const ShapeIndex& leaf : LeavesOf(shape)) {
    KASHI_ASSIGN_OR_RETURN(const Literal array,
                           ReadNpyFile(directory.File("out", file++), ShapeUtil::GetSubshape(shape, leaf)));
    KASHI_RETURN_IF_ERROR(result.CopyFrom(array, leaf));
  }
  return result;
}

absl::StatusOr<Literal> RunCommand(const std::string& command, const HloInstruction& call,
                                   absl::Span<const Literal* const> operands) {
  ScratchDirectory directory;
  KASHI_RETURN_IF_ERROR(directory.Make());
  KASHI_RETURN_IF_ERROR(WriteOnThisRank(directory.path() + "/call.txt", {call.ToString(), "\n"}));
  KASHI_RETURN_IF_ERROR(WriteOperands(operands, directory));
  const int status = std::system(absl::StrCat(command, " ", ShellQuoted(directory.path())).c_str());
  if (status != 0) {
    return Unavailable("%s: `%s` failed: %s %d", call.name(), command, WIFEXITED(status) ? "exit status" : "signal",
                       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  }
  absl::StatusOr<Literal> result = ReadResult(call.shape(), directory);
  if (!result.ok()) {
    return absl::Status(result.status().code(),
                        absl::StrCat(call.name(), ": the output of `", command, "`: ", result.status().message()));
  }
  return result;
}

}  // namespace

absl::Status RegisterCustomCallCommand(const std::string& target_and_command) {
  const size_t equals = target_and_command.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == target_and_command.size()) {
    return InvalidArgument("--custom-call needs TARGET=COMMAND, not `%s`", target_and_command);
  }
  const std::string command = target_and_command.substr(equals + 1);
  CustomCallRegistry::Global().Register(
      target_and_command.substr(0, equals),
      [command](const HloInstruction& call, absl::Span<const Literal* const> operands) {
        return RunCommand(command, call, operands);
      });
  return absl::OkStatus();
}

}  // namespace kashi::cli
