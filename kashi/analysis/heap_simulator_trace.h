// The temporaries of a program, counted as in XLA's peak_memory_in_bytes.
//
// XLA computes this number from the traces (HeapSimulatorTrace) of its buffer assignment, one per memory space. The
// traces have values, not buffers, and arrays only: the table of pointers of a tuple is not counted. If several values
// use one buffer one after another
//
//   p = … parameter(0)              p  ----------
//   u = … dynamic-update-slice(p)            u  ---------
//
// the trace of most spaces counts the buffer while one of them is alive, and not in between. The trace of the vector
// memory, S(1), or S(3) of v4, is written by the pass that moves values there. It counts both values in the step where
// one updates the other in place, so the peak is larger than the reserved memory. (It does not do so if a loop or a
// conditional forwards its state, or if the instruction names its aliases itself, as asynchronous collectives do.)
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

namespace kashi::analysis {

// The uses of memory by groups that are temporaries. O(n log n), n = positions.
std::vector<MemoryUse> TraceTemporaries(const ValuePositions& positions, const BufferGroups& groups,
                                        const LiveRanges& ranges, const MemoryTarget& target,
                                        const std::vector<bool>& is_temporary);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_HEAP_SIMULATOR_TRACE_H_
