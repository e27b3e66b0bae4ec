// The live range of each buffer, in steps of the program.
//
// A step is an instruction. The entry and all inline computations (call_graph.h) are one sequence, as in XLA's
// HloLiveRange: the computations that an instruction calls come before the instruction; a loop has its condition and
// its body once, in this order. A computation with several callers has its own sequence and steps: a region.
//
//   0 x   1 i   2 init   [3 p   4 a   5 lt] condition   [6 q   7 b   8 t] body   9 while   10 y
#ifndef KASHI_ANALYSIS_LIVE_RANGES_H_
#define KASHI_ANALYSIS_LIVE_RANGES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "kashi/analysis/buffer_groups.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/value_positions.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// Steps of a region, both included. A value that no instruction makes has none: first > last.
struct LiveRange {
  int32_t region = 0;
  int32_t first = INT32_MAX;
  int32_t last = -1;
};

class LiveRanges {
 public:
  // The steps of a computation, and of computations that are inline in it.
  struct Span {
    int32_t first = 0;
    int32_t last = -1;
  };

  static LiveRanges Compute(const HloModule& module, const CallGraph& graph, const ValuePositions& positions,
                            const BufferGroups& groups);

  // Callees before callers: the entry's is the last.
  int32_t region_count() const { return static_cast<int32_t>(sequences_.size()); }
  absl::Span<const HloInstruction* const> sequence(int32_t region) const { return sequences_[region]; }
  // The computation's span within the region that contains it. Pre: the computation has buffers.
  const Span& SpanOf(const HloComputation* computation) const { return spans_.at(computation); }
  // The range of a group. A group of several regions is a borrowed one; its range has no meaning.
  const LiveRange& RangeOf(int32_t group) const { return ranges_[group]; }
  // The range of the value that a position makes, to the last use of that value, without the other values of its
  // buffer. A parameter's range begins with the computation. None for positions that hold the value of another one.
  const LiveRange& RangeOfValue(int32_t position) const { return value_ranges_[position]; }
  // The region of a computation that is not inline.
  int32_t RegionOf(const HloComputation* root) const { return regions_.at(root); }

 private:
  std::vector<std::vector<const HloInstruction*>> sequences_;
  std::vector<LiveRange> ranges_;
  std::vector<LiveRange> value_ranges_;
  absl::flat_hash_map<const HloComputation*, int32_t> regions_;
  absl::flat_hash_map<const HloComputation*, Span> spans_;
};

}  // namespace kashi

#endif  // KASHI_ANALYSIS_LIVE_RANGES_H_
