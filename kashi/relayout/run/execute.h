// Runs a plan, by as many threads as it may use.
#ifndef KASHI_RELAYOUT_RUN_EXECUTE_H_
#define KASHI_RELAYOUT_RUN_EXECUTE_H_

#include "kashi/relayout/plan/planner.h"

namespace kashi::relayout {

// `source` and `target` as RelayoutPlan::Execute.
void ExecutePlan(const RelayoutTask& task, const MovePlan& plan, const char* source, char* target);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_RUN_EXECUTE_H_
