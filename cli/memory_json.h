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

namespace kashi::cli {

// The file's name, totals (of the default memory space), "spaces", "buffers" and "padding", the worst `top` shapes.
Json MemoryJson(const std::string& file, const HloModule& module, const MemoryAnalysis& memory, int64_t top);

// As XLA's output_size_in_bytes: with the table of pointers of a result that is a tuple. A TPU's depends on the
// generation, so it is left out as long as that is only guessed.
int64_t OutputBytes(const MemoryAnalysis& memory);

// "HBM", "VMEM", …; "" for a number without a name.
std::string MemorySpaceName(const MemoryTarget& target, int64_t memory_space);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_JSON_H_
