// `kashi memory` for people, in the terminal.
#ifndef KASHI_CLI_MEMORY_REPORT_H_
#define KASHI_CLI_MEMORY_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kashi {
class HloModule;
struct MemoryAnalysis;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// Totals; a table of the spaces; the `top` largest buffers of the space that is asked for, in the form of XLA's
// out-of-memory message; the padding, worst first, with suggestions.
// xla_file: where figures come from that XLA itself has written; "" if there are none.
std::string MemoryReport(const HloModule& module, const MemoryAnalysis& memory, const std::string& xla_file,
                         int64_t top, int64_t memory_space);

// What grew, what shrank, what moved between spaces, from a to b. Buffers correspond by the name of a value that both
// have.
std::string MemoryComparison(const MemoryAnalysis& a, const MemoryAnalysis& b, int64_t top);

// Columns as wide as what is in them: the first and the last to the left, the others to the right. Pre: rows are as long as
// one another, and there is one.
std::string TableText(const std::vector<std::vector<std::string>>& rows);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MEMORY_REPORT_H_
