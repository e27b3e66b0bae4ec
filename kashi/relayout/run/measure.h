// The measured mode: a few plans for a problem are run, and the fastest is kept, as FFTW and HPTT do it.
#ifndef KASHI_RELAYOUT_RUN_MEASURE_H_
#define KASHI_RELAYOUT_RUN_MEASURE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kashi/relayout/plan/planner.h"

namespace kashi::relayout {

// The plan that was the fastest when this problem was measured first in this process. RESOURCE_EXHAUSTED if there is no
// memory for both sides. Cost: the plans of MeasuredCandidates, some runs of each.
absl::StatusOr<MovePlan> MakeMeasuredPlan(const RelayoutTask& task);

// The plans to measure: the plan of the cost function first; then those that differ from it in the route, the stores,
// the sizes of blocks or the kernel, from the least cost up. No two do the same.
std::vector<MovePlan> MeasuredCandidates(const RelayoutTask& task);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_RUN_MEASURE_H_
