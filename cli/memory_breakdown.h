// Who makes the peak: the buffers that are alive when a memory space is fullest, by scope and so on.
#ifndef KASHI_CLI_MEMORY_BREAKDOWN_H_
#define KASHI_CLI_MEMORY_BREAKDOWN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/breakdown_options.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// Null if the module does not use the memory space.
const MemorySpaceUsage* FindSpace(const MemoryAnalysis& memory, int64_t memory_space);
// Numbers of the buffers that are alive at the peak, the largest first.
std::vector<int32_t> BuffersAtPeak(const MemoryAnalysis& memory, const MemorySpaceUsage& space);

// The bytes and the padding of these buffers, by --by. A row of their own has what is in the peak and in no buffer:
// gaps between buffers, tables of pointers. So the rows add up to MemorySpaceUsage::peak_bytes. Buffers that lie in
// other buffers do not count. Pre: options.by has a value. INVALID_ARGUMENT for a memory space that the module does not
// use.
absl::StatusOr<BreakdownTable> MemoryBreakdown(const HloModule& module, const MemoryAnalysis& memory,
                                               int64_t memory_space, const BreakdownOptions& options);

// A short table by scope, for the report; "" if no buffer at the peak has a scope.
std::string PeakByScopeText(const HloModule& module, const MemoryAnalysis& memory, int64_t memory_space);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MEMORY_BREAKDOWN_H_
