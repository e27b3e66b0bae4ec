// The output of `kashi memory --json`.
#ifndef KASHI_CLI_MEMORY_JSON_H_
#define KASHI_CLI_MEMORY_JSON_H_

#include <cstdint>
#include <string>

#include "cli/json.h"

namespace kashi {
class HloModule;
struct BufferValue;
struct MemoryAnalysis;
struct MemoryTarget;
}  // namespace kashi

namespace kashi::cli {

// The totals of the default memory space, "spaces", "buffers", and "padding" of the `top` worst shapes.
// xla_file: XLA's file about memory that the figures are from; "" if there is none.
Json MemoryJson(const HloModule& module, const MemoryAnalysis& memory, const std::string& file,
                const std::string& xla_file, int64_t top);

// The facts of MemoryComparison for the files `before` and `after`: "spaces" with both peaks, and all "buffers" that
// differ, the largest differences first.
Json MemoryComparisonJson(const MemoryAnalysis& a, const MemoryAnalysis& b, const std::string& before,
                          const std::string& after);

// As XLA's output_size_in_bytes, with the table of pointers of a tuple result. The table of a TPU depends on the
// generation, so it is left out if the generation is a guess.
int64_t OutputBytes(const MemoryAnalysis& memory);

// "HBM", "VMEM", …; "" for a number without a name.
std::string MemorySpaceName(const MemoryTarget& target, int64_t memory_space);

// The target of the call of cuBLAS or cuDNN whose scratch memory the value is; "" for other values.
std::string ScratchTargetOf(const BufferValue& value);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_JSON_H_
