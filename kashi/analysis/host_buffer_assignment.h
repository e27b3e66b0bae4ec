// The buffer assignment of XLA's host compiler.
//
// Buffers are placed from the largest to the smallest. Arguments, constants and tables of tuples have their own
// allocations. Any other buffer goes to the first of these places:
//
//   1  the place of an operand of one of its values, if the result may overwrite it (operand_sharing.h)
//   2  the place of a sufficiently large output, the smallest first, while it does not hold the output
//   3  an output without such a place: its own allocation
//   4  all others: one block of temporaries, by best fit (best_fit_heap.h)
//
// A donated argument that an output uses (input_output_alias) counts as an output. Every buffer in the block begins at
// a multiple of 64 bytes. docs/memory.md compares the offsets and sizes with XLA's.
#ifndef KASHI_ANALYSIS_HOST_BUFFER_ASSIGNMENT_H_
#define KASHI_ANALYSIS_HOST_BUFFER_ASSIGNMENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/live_ranges.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::analysis {

struct HostBufferAssignment {
  struct Place {
    // The group that the place was made for. Groups with the same owner share a place. kTemporaries: the block
    // of temporaries. kNowhere: no instruction makes the group's value.
    int32_t owner = kNowhere;
    int64_t offset = 0;
  };
  static constexpr int32_t kTemporaries = -1;
  static constexpr int32_t kNowhere = -2;

  std::vector<Place> places;  // by group
  int64_t temp_bytes = 0;     // of the block of temporaries
};

// Pre: the module is scheduled, and every computation with buffers has one caller, as the output of hosts' compilers.
// alignment: of temporaries within their block, in bytes (MemoryTarget::buffer_alignment).
// thread_local_count: the number of values of computations that work on elements. XLA has places for them too, which
// changes the order of the block.
// RESOURCE_EXHAUSTED if it would take too long (more than 2^25 tests of values in outputs; best_fit_heap.h).
absl::StatusOr<HostBufferAssignment> AssignHostBuffers(const HloModule& module, const CallGraph& graph,
                                                       const ValuePositions& positions, const BufferGroups& groups,
                                                       const LiveRanges& ranges, int64_t alignment,
                                                       int64_t thread_local_count);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_HOST_BUFFER_ASSIGNMENT_H_
