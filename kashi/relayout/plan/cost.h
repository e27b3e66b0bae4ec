// The cost of a plan: the one function by which the planner compares candidates.
#ifndef KASHI_RELAYOUT_PLAN_COST_H_
#define KASHI_RELAYOUT_PLAN_COST_H_

#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/plan/strips.h"

namespace kashi::relayout {

// The cost in bytes that a copy would move in about the same time: the bytes of the target, times the cost of the
// kernel, times the cache lines that its runs touch relative to those that they fill: a run of 2 bytes costs as much as
// one of 64.
double CostOf(const Step& step);
double CostOf(const Strips& strips);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_COST_H_
