#include "cli/xla_memory_files.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/analysis/xla_buffer_assignment.h"

namespace kashi::cli {
namespace {

bool IsFileAt(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

void Warn(const std::string& path, const absl::Status& status) {
  PrintWarning(absl::StrCat(path, " is ignored: ", status.message()));
}

// Prints a warning and returns nullopt if the file is not valid.
template <typename Facts>
std::optional<Facts> Read(const std::string& path,
                          absl::StatusOr<Facts> (*parse)(absl::string_view text, absl::string_view name)) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  absl::StatusOr<Facts> facts = text.ok() ? parse(*text, path) : text.status();
  if (facts.ok()) return *std::move(facts);
  Warn(path, facts.status());
  return std::nullopt;
}

}  // namespace

std::string ModuleStem(const std::string& module_path) {
  absl::string_view stem = module_path;
  for (const absl::string_view ending : {".hlo.pb", ".hlo.txt", ".pbtxt", ".hlo_text", ".txt", ".hlo", ".pb"}) {
    if (absl::ConsumeSuffix(&stem, ending)) break;
  }
  return std::string(stem);
}

XlaMemoryFile ReadXlaMemoryFile(const std::string& module_path) {
  XlaMemoryFile file;
  const std::string stem = ModuleStem(module_path);
  if (module_path == "-" || stem == module_path) return file;
  const std::string assignment = absl::StrCat(stem, "-buffer-assignment.txt");
  const std::string usage = absl::StrCat(stem, "-memory-usage-report.txt");
  if (IsFileAt(assignment)) {
    file.facts.assignment = Read<XlaBufferAssignment>(assignment, ParseXlaBufferAssignment);
    if (file.facts.assignment) file.path = assignment;
  }
  if (file.path.empty() && IsFileAt(usage)) {
    file.facts.usage = Read<std::vector<XlaMemoryUsage>>(usage, ParseXlaMemoryUsageReport);
    if (file.facts.usage) file.path = usage;
  }
  return file;
}

}  // namespace kashi::cli
