// XLA's files about the memory of a module, beside the module in an --xla_dump_to directory (xla_buffer_assignment.h).
#ifndef KASHI_CLI_XLA_MEMORY_FILES_H_
#define KASHI_CLI_XLA_MEMORY_FILES_H_

#include <string>

#include "kashi/analysis/memory_analysis.h"

namespace kashi::cli {

struct XlaMemoryFile {
  std::string path;  // empty: there is none
  XlaMemoryFacts facts;
};

// Reads the buffer assignment of a module, or else its memory usage report. Prints a warning about a file that cannot
// be read, and ignores it.
XlaMemoryFile ReadXlaMemoryFile(const std::string& module_path);

// A dump holds a module in several forms and at several stages:
//
//   module_0008.jit_f.before_optimizations.txt      of module_0008.jit_f, before_optimizations
//   module_0008.jit_f.cpu_after_optimizations.txt   cpu_after_optimizations
//   module_0008.jit_f.cpu_after_optimizations.hlo.pb  the same as a proto
//
// The common beginning, without the ending, of the names of all files about this module at this stage.
std::string ModuleStem(const std::string& module_path);

}  // namespace kashi::cli

#endif  // KASHI_CLI_XLA_MEMORY_FILES_H_
