// Modules from files, for the verbs that take an HLO module.
#ifndef KASHI_CLI_MODULE_FILE_H_
#define KASHI_CLI_MODULE_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kashi {
class HloModule;
struct HloProtoFile;
}  // namespace kashi

namespace kashi::cli {

class Answers;
class Verb;

// The description of a FILE argument in the help.
inline constexpr char kModuleOrDirectory[] = "A module, a dump directory, or `-` for standard input";

// --input-limit: the most bytes that ReadFile reads. Default: 4 GiB, or half of the available memory if that is less.
void AddInputLimitOption(Verb* verb);

// --module: the modules of a directory that ExpandModulePath takes.
void AddModuleFilterOption(Verb* verb);
// Whether --module chooses this name; true if it is not given.
bool PassesModuleFilter(const std::string& name);

// --function: the function of a StableHLO program that becomes the entry.
void AddFunctionOption(Verb* verb);

// The contents of a file, or of standard input if the path is "-". RESOURCE_EXHAUSTED if they exceed --input-limit: a
// device may have no end.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// A file and its module. The kind of the file depends on its contents, not on its name: HLO text, or HloModuleProto,
// HloProto or HloSnapshot in binary, text or JSON form, StableHLO text, a StableHLO artifact (MLIR bytecode), or output
// of jax.export with such an artifact; each may be packed by gzip.
struct ModuleFile {
  ModuleFile();
  ModuleFile(ModuleFile&&) noexcept;
  ModuleFile& operator=(ModuleFile&&) noexcept;
  ~ModuleFile();

  std::string name;                          // for messages
  std::string part;                          // which program of the file: "line 12: @f"; "" if the file has one
  std::shared_ptr<const std::string> bytes;  // as read; the programs of a file share them
  bool is_text = false;                      // HLO text
  bool is_mlir_text = false;
  std::unique_ptr<HloModule> module;
  std::unique_ptr<HloProtoFile> proto;  // the contents of a proto without the module; never null
};

struct ModuleReaderOptions {
  bool strict = false;  // warnings are errors
  // Arrays for the arguments, in order. They give the sizes that the program leaves open.
  std::vector<std::string> inputs = {};
};

// Reads a module. After an error, adds it to `answers` and returns nullopt. Prints warnings to standard error.
std::optional<ModuleFile> ReadModuleFile(const std::string& path, const ModuleReaderOptions& options, Answers* answers);

// The programs of a StableHLO file to read.
struct PartOptions {
  bool split_input_file = false;  // the parts between lines `// -----`, each a file of its own
  bool all_functions = false;     // each function without arguments that no other function calls
  // Sets both if the file is a test of StableHLO: all parts, and in each all functions if it has no @main, or if its
  // @main has no arguments and functions check themselves (dialect `check`). Has no effect with --function.
  bool as_tests = false;
};

// Calls `visit` with each program of the file, until it returns false. Without options there is one. Errors of parts go
// to `answers`, and the next part is read.
void ForEachProgram(const std::string& path, const ModuleReaderOptions& options, PartOptions parts, Answers* answers,
                    absl::FunctionRef<bool(ModuleFile)> visit);

// The module files of an argument: the file itself, or all files of an --xla_dump_to directory that hold modules and
// that --module chooses, sorted by name. INVALID_ARGUMENT if there is none, and for --module with a file.
absl::StatusOr<std::vector<std::string>> ExpandModulePath(const std::string& path);
// The files of all arguments, in order. Adds errors to `answers`.
std::vector<std::string> ExpandModulePaths(const std::vector<std::string>& paths, Answers* answers);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_FILE_H_
