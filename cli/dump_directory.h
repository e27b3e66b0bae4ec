// An --xla_dump_to directory: its modules, each with the stages at which XLA wrote it, and XLA's reports.
#ifndef KASHI_CLI_DUMP_DIRECTORY_H_
#define KASHI_CLI_DUMP_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/matching/dump_name.h"

namespace kashi::cli {

struct DumpFile {
  std::string path;
  int64_t bytes = 0;
};

// A stage of a module's compilation, and its files.
struct DumpedStage {
  matching::DumpStage stage;
  std::vector<DumpFile> files;  // the best to read first: text, then protos

  const std::string& path() const { return files.front().path; }
  // "0006 simplification/algsimp", "0005 before simplification", or "before_optimizations".
  std::string Title() const;
  // The pass alone, "algsimp"; "before simplification"; the name of a stage without a number.
  std::string pass() const { return stage.number < 0 || stage.begins_pipeline() ? stage.Title() : stage.after; }
};

struct DumpedReport {
  DumpFile file;
  std::string kind;  // "buffer assignment", "LLVM IR", …; "other"
};

struct DumpedModule {
  std::string name;  // "module_0018.jit_step"
  int64_t number = -1;
  std::vector<DumpedStage> stages;    // in the order of the compilation
  std::vector<DumpedReport> reports;  // by kind, then by name
  int64_t bytes = 0;                  // of all its files
  int64_t files = 0;

  // The stages that --xla_dump_hlo_pass_re asked for.
  int64_t PassCount() const;
};

struct DumpDirectory {
  std::string path;
  std::vector<DumpedModule> modules;  // by number, then by name
  std::vector<DumpFile> others;       // files that belong to no module
};

// Reads the names and sizes of the files, also of those in a folder `module_0018.jit_step`. Takes the modules whose
// names --module chooses. INVALID_ARGUMENT if the directory cannot be read, or if there is no such module.
absl::StatusOr<DumpDirectory> ReadDumpDirectory(const std::string& path);

// The file of a stage to run: the first one, or a proto if that is a text that lacks values of constants, `{...}`.
const std::string& PathToRun(const DumpedStage& stage);

// The kinds of reports, in the order in which they are listed.
std::vector<std::string> ReportKinds();

// The stages of a module that a user names: the number "6" or "0006", "before", "after", a pass "algsimp", or the pass
// of a pipeline "simplification/algsimp". Patterns with `*` and `?` are compared with the pass and with the title.
// Returns indices into the stages; INVALID_ARGUMENT with the names of the stages if there is none.
absl::StatusOr<std::vector<size_t>> FindStages(const DumpedModule& module, const std::string& name);
// The only one of them. INVALID_ARGUMENT with their numbers if there are several.
absl::StatusOr<size_t> FindStage(const DumpedModule& module, const std::string& name);

}  // namespace kashi::cli

#endif  // KASHI_CLI_DUMP_DIRECTORY_H_
