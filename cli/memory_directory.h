// The table of `kashi memory DIRECTORY`.
#ifndef KASHI_CLI_MEMORY_DIRECTORY_H_
#define KASHI_CLI_MEMORY_DIRECTORY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kashi::cli {

// A row of the table: a module at one stage of compilation.
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

// The files of a dump without repeated modules: if a module exists as text and as a proto, the text.
std::vector<std::string> WithoutRepeatedModules(const std::vector<std::string>& paths);

// Splits a file name of XLA into "module_0008.jit_f" and "cpu_after_optimizations"; any other name into itself and "".
struct ModuleStage {
  std::string module;
  std::string stage;
};
ModuleStage StageOf(const std::string& path);

// A heading and one line per module and stage, in order. `width` as for TableText.
std::string ModuleTable(const std::vector<ModuleMemoryRow>& rows, size_t width);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_DIRECTORY_H_
