// Modules from files: what the verbs that take an HLO module share.
#ifndef KASHI_CLI_MODULE_FILE_H_
#define KASHI_CLI_MODULE_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kashi {
class HloModule;
struct HloProtoFile;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

class Answers;
class Verb;

// --input-limit: what ReadFile may read. By default 4 GiB, or half of the memory that is available if that is less.
void AddInputLimitOption(Verb* verb);

// The contents of a file, or of standard input if the path is "-". RESOURCE_EXHAUSTED beyond --input-limit: a device may
// have no end.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// A file and the module that it holds. The contents tell the kind of file, not the name: HLO text, or HloModuleProto,
// HloProto or HloSnapshot in binary, text or JSON form; each also packed by gzip.
struct ModuleFile {
  ModuleFile();
  ModuleFile(ModuleFile&&) noexcept;
  ModuleFile& operator=(ModuleFile&&) noexcept;
  ~ModuleFile();

  std::string name;   // for messages
  std::string bytes;  // as read
  bool is_text = false;
  std::unique_ptr<HloModule> module;
  std::unique_ptr<HloProtoFile> proto;  // of a proto: what it holds besides the module; never null
};

struct ModuleReaderOptions {
  bool strict = false;  // warnings are errors
};

// Reads a module. nullopt after an error, which `answers` has received; warnings go to standard error under their place.
std::optional<ModuleFile> ReadModuleFile(const std::string& path, const ModuleReaderOptions& options, Answers* answers);

// The module files that an argument means: itself, or, of a directory that `--xla_dump_to` wrote, all that hold modules, in
// the order of their names. INVALID_ARGUMENT for a directory without any.
absl::StatusOr<std::vector<std::string>> ExpandModulePath(const std::string& path);
// Those of all arguments, in their order. `answers` receives the errors.
std::vector<std::string> ExpandModulePaths(const std::vector<std::string>& paths, Answers* answers);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MODULE_FILE_H_
