// How often computations run, if of each conditional only the dearest branch does.
#ifndef KASHI_INSIGHT_RUN_SPREAD_H_
#define KASHI_INSIGHT_RUN_SPREAD_H_

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::insight {

using Runs = absl::flat_hash_map<const HloComputation*, double>;

// The computations that the entry reaches by control flow, with their runs. Of a conditional the branch with the
// highest value runs, the first of equals; the others have 0 runs from there. If `is_flat`, a loop is one iteration and
// one condition. O(instructions).
Runs SpreadRuns(const CallGraph& graph, const ExecutionCounts& counts, bool is_flat,
                absl::FunctionRef<double(const HloComputation*)> value);

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_RUN_SPREAD_H_
