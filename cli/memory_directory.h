// The modules of a directory beside one another.
#ifndef KASHI_CLI_MEMORY_DIRECTORY_H_
#define KASHI_CLI_MEMORY_DIRECTORY_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kashi::internal::cli {

// A row of the table: a module at one stage of its compiling.
struct ModuleMemoryRow {
  std::string file;   // as given
  std::string basis;  // MemoryBasisName, and ", global" of what is not per device
  int64_t peak_bytes = 0;
  int64_t argument_bytes = 0;
  int64_t output_bytes = 0;
  int64_t alias_bytes = 0;
  int64_t constant_bytes = 0;
  int64_t temp_bytes = 0;
};

// Of the files of a dump, those that hold different modules: where one is there as text and as a proto, the text.
std::vector<std::string> WithoutRepeatedModules(const std::vector<std::string>& paths);

// "module_0008.jit_f" and "cpu_after_optimizations" of a name that XLA gives its files; of any other name all, and "".
struct ModuleStage {
  std::string module;
  std::string stage;
};
ModuleStage StageOf(const std::string& path);

// One line a module and stage, in their order, under a line of headings.
std::string ModuleTable(const std::vector<ModuleMemoryRow>& rows);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MEMORY_DIRECTORY_H_
