#include "kashi/pjrt/report.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/base/status.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/engine/program_door.h"

namespace kashi::pjrt {
namespace {

absl::Status WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file.good()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("KASHI_REPORT: cannot write ", path.string()));
}

std::string MemoryText(const Executable& executable) {
  const Executable::Memory memory = executable.MemoryUse();
  std::string text =
      absl::StrFormat("arguments %15d bytes\nresults   %15d bytes\ntemporary %15d bytes\naliased   %15d bytes\n",
                      memory.argument_bytes, memory.output_bytes, memory.temporary_bytes, memory.alias_bytes);
  const buffers::BufferAssignment* const assignment = engine::ProgramDoor::BuffersOf(*executable.program());
  if (assignment != nullptr) absl::StrAppend(&text, "\n", assignment->BuffersToString());
  return text;
}

absl::StatusOr<std::string> CostText(const Executable& executable) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<Executable::Property> costs, executable.Costs());
  std::string text;
  for (const Executable::Property& cost : costs) absl::StrAppendFormat(&text, "%-24s %.6g\n", cost.name, cost.value);
  return text;
}

}  // namespace

absl::Status WriteReport(const Executable& executable) {
  static std::atomic<int> number = 0;
  const char* const folder = std::getenv("KASHI_REPORT");
  if (folder == nullptr || *folder == '\0') return absl::OkStatus();
  const std::filesystem::path path =
      std::filesystem::path(folder) / absl::StrFormat("%d-%04d-%s", getpid(), number++, executable.name());
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return absl::UnavailableError(absl::StrCat("KASHI_REPORT: ", path.string(), ": ", error.message()));
  KASHI_ASSIGN_OR_RETURN(const std::string costs, CostText(executable));
  KASHI_RETURN_IF_ERROR(WriteText(path / "module.hlo", executable.module().ToString()));
  KASHI_RETURN_IF_ERROR(WriteText(path / "optimized.hlo", executable.program()->module().ToString()));
  KASHI_RETURN_IF_ERROR(WriteText(path / "memory.txt", MemoryText(executable)));
  return WriteText(path / "cost.txt", costs);
}

}  // namespace kashi::pjrt
