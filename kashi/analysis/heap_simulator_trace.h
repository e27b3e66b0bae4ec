// The temporaries of a program as XLA counts them for its peak_memory_in_bytes.
//
// That number is read off the traces (HeapSimulatorTrace) which placing the buffers leaves behind, one for each memory
// space. They tell of values, not of buffers, and of arrays only: a tuple's table of pointers is not counted. Where
// several values take turns in one buffer
//
//   p = … parameter(0)              p  ----------
//   u = … dynamic-update-slice(p)            u  ---------
//
// the trace of most spaces counts the buffer while any of them lives, and not in between. The trace of the vector
// memory, S(1), of v4 S(3), is written by the pass that moves values there, and counts both in the step where one changes
// the other in place: the peak is then more than what is ever reserved. (Not so where a loop or a conditional hands on
// its state, nor where the instruction states its aliases itself, as asynchronous collectives do.)
//
// Source: the rules give peak_memory_in_bytes of all 253 TPU modules that they were compared with (docs/memory.md).
#ifndef KASHI_ANALYSIS_HEAP_SIMULATOR_TRACE_H_
#define KASHI_ANALYSIS_HEAP_SIMULATOR_TRACE_H_

#include <vector>

#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/live_ranges.h"
#include "kashi/analysis/memory_peaks.h"
#include "kashi/analysis/memory_target.h"
#include "kashi/analysis/value_positions.h"

namespace kashi::internal {

// Of the groups that are temporaries. O(n log n), n = positions.
std::vector<MemoryUse> TraceTemporaries(const ValuePositions& positions, const BufferGroups& groups,
                                        const LiveRanges& ranges, const MemoryTarget& target,
                                        const std::vector<bool>& is_temporary);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_HEAP_SIMULATOR_TRACE_H_
