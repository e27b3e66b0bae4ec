// The buffers of a module: one for each group of positions that need memory of their own.
#ifndef KASHI_ANALYSIS_MEMORY_BUFFERS_H_
#define KASHI_ANALYSIS_MEMORY_BUFFERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/live_ranges.h"
#include "kashi/analysis/memory_analysis.h"
#include "kashi/analysis/shape_nodes.h"
#include "kashi/analysis/value_positions.h"

namespace kashi::analysis {

struct ModuleBuffers {
  std::vector<MemoryBuffer> buffers;
  std::vector<int32_t> buffer_of_group;  // -1 for none
  std::vector<bool> is_temporary_group;
  // Values that each thread keeps for itself, in computations that work on elements.
  int64_t thread_local_count = 0;
  int64_t thread_local_bytes = 0;
};

// The other arguments are of this module. Errors are those of AddToTotalBytes and ShapeNodesCache.
absl::StatusOr<ModuleBuffers> MakeModuleBuffers(const HloModule& module, const MemoryTarget& target,
                                                const CallGraph& graph, const ValuePositions& positions,
                                                const BufferGroups& groups, const LiveRanges& ranges,
                                                ShapeNodesCache* shapes);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_MEMORY_BUFFERS_H_
