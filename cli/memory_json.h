// What `kashi memory --json` prints.
#ifndef KASHI_CLI_MEMORY_JSON_H_
#define KASHI_CLI_MEMORY_JSON_H_

#include <cstdint>
#include <string>

#include "cli/json.h"

namespace kashi {
class HloModule;
struct MemoryAnalysis;
struct MemoryTarget;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// Totals (of the default memory space), "spaces", "buffers" and "padding", the worst `top` shapes.
// xla_file: where figures come from that XLA itself has written; "" if there are none.
Json MemoryJson(const HloModule& module, const MemoryAnalysis& memory, const std::string& file,
                const std::string& xla_file, int64_t top);

// What MemoryComparison tells, of the files `before` and `after`: "spaces" with both peaks, and all "buffers" that differ, the
// largest differences first.
Json MemoryComparisonJson(const MemoryAnalysis& a, const MemoryAnalysis& b, const std::string& before,
                          const std::string& after);

// As XLA's output_size_in_bytes: with the table of pointers of a result that is a tuple. A TPU's depends on the
// generation, so it is left out as long as that is only guessed.
int64_t OutputBytes(const MemoryAnalysis& memory);

// "HBM", "VMEM", …; "" for a number without a name.
std::string MemorySpaceName(const MemoryTarget& target, int64_t memory_space);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MEMORY_JSON_H_
