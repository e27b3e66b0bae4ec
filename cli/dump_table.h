// The list of what a dump directory holds, for `kashi dump`: text and JSON.
#ifndef KASHI_CLI_DUMP_TABLE_H_
#define KASHI_CLI_DUMP_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/dump_directory.h"
#include "cli/json.h"

namespace kashi::cli {

// What its first and last stage say about a module; nullopt: there is none, or it cannot be read.
struct DumpedSizes {
  std::optional<int64_t> instructions_before;
  std::optional<int64_t> instructions_after;
};

// One line per module: its size and files, instructions before and after, stages, reports. `width` as for TableText.
std::string DumpTable(const std::vector<DumpedModule>& modules, const std::vector<DumpedSizes>& sizes, size_t width);

// How much there is in all, and which reports.
std::string DumpSummary(const DumpDirectory& directory);

// One line per kind of file of a module: how many, how large, and the first name.
std::string ModuleFilesTable(const DumpedModule& module, size_t width);

Json DumpJson(const DumpedModule& module, const DumpedSizes& sizes);

}  // namespace kashi::cli

#endif  // KASHI_CLI_DUMP_TABLE_H_
