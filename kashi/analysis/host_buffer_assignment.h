// Where XLA's host compiler places each buffer of a program.
//
// It goes through the buffers from the largest to the smallest. Arguments, constants and tables of tuples have places of
// their own. Any other buffer goes where it can lie without being in the way:
//
//   1  where an operand of one of its values lies, if the result may be written over it (operand_sharing.h)
//   2  where an output lies that is large enough, the smallest first: before the output is written, or after what lay there
//   3  an output that finds none: a place of its own
//   4  all others: in one block of temporaries, by best fit (best_fit_heap.h)
//
// Donated arguments that outputs take (input_output_alias) are outputs in this. Everything in the block begins at a multiple
// of 64 bytes. Offsets and sizes are equal to XLA's (docs/memory.md says how near).
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

namespace kashi::internal {

struct HostBufferAssignment {
  struct Place {
    // A group: the one that the place was made for. Groups with the same owner share a place. kTemporaries: the block of
    // temporaries. kNowhere: nobody makes what is in it.
    int32_t owner = kNowhere;
    int64_t offset = 0;
  };
  static constexpr int32_t kTemporaries = -1;
  static constexpr int32_t kNowhere = -2;

  std::vector<Place> places;  // by group
  int64_t temp_bytes = 0;     // of the block of temporaries
};

// Of a module that is scheduled and in which every computation with buffers has one caller: hosts' compilers leave it so.
// alignment: of temporaries within their block, in bytes (MemoryTarget::buffer_alignment).
// thread_local_count: of the values of computations that work on elements; XLA has places for them too, which changes the order
// of what it puts together.
// RESOURCE_EXHAUSTED where it would take too long (more than 2^25 looks at what lies in outputs; best_fit_heap.h).
absl::StatusOr<HostBufferAssignment> AssignHostBuffers(const HloModule& module, const CallGraph& graph,
                                                       const ValuePositions& positions, const BufferGroups& groups,
                                                       const LiveRanges& ranges, int64_t alignment,
                                                       int64_t thread_local_count);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_HOST_BUFFER_ASSIGNMENT_H_
