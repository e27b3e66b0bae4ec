// The text report of `kashi memory`.
#ifndef KASHI_CLI_MEMORY_REPORT_H_
#define KASHI_CLI_MEMORY_REPORT_H_

#include <cstdint>
#include <string>

namespace kashi {
class HloModule;
struct MemoryAnalysis;
struct MemoryTarget;
}  // namespace kashi

namespace kashi::cli {

class BreakdownTable;

// The totals, a table of the memory spaces, who makes the peak of `memory_space` by scope, the `top` largest buffers of
// `memory_space` in the form of XLA's out-of-memory message, and the padding, worst first, with suggestions.
// xla_file: XLA's file about memory that the figures are from; "" if there is none.
std::string MemoryReport(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file,
                         int64_t top, int64_t memory_space);

// The totals, and a table of --by of this memory space.
std::string MemoryByText(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file,
                         const BreakdownTable& table, int64_t top, int64_t memory_space);

// The buffers that grew, shrank or moved to another memory space from a to b. Buffers are paired by the name of a
// common value.
std::string MemoryComparison(const MemoryAnalysis& a, const MemoryAnalysis& b, int64_t top);

// Says that the module has no layouts of the target, and that the figures are for those that the target chooses
// (MemoryAnalysis::has_chosen_layouts).
std::string ChosenLayoutsNote(const MemoryTarget& target);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_REPORT_H_
