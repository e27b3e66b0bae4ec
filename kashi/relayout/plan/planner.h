// From two placements to steps. There are several routes (choice.h); each makes a whole plan or none, and the plan that
// costs least is kept.
#ifndef KASHI_RELAYOUT_PLAN_PLANNER_H_
#define KASHI_RELAYOUT_PLAN_PLANNER_H_

#include <optional>
#include <string>
#include <vector>

#include "kashi/relayout/nests/choice.h"
#include "kashi/relayout/nests/context.h"
#include "kashi/relayout/plan/padding.h"
#include "kashi/relayout/plan/problem.h"
#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/plan/strips.h"

namespace kashi::relayout {

// A plan is a value: padding first, then strips, then steps.
struct MovePlan {
  PlanChoice choice;
  SharedContext context;
  PaddingPlan padding;
  std::vector<Strips> strips;
  std::vector<Step> steps;
  std::string refusal;       // why all elements go by the index loop, if they do
  bool is_identity = false;  // every element keeps its place and its bits

  double cost() const;
  std::string ToString() const;  // a line of text for each part
};

// Whether a target is written with non-temporal stores: as the options say, or if both sides together are larger than
// the largest cache, as such a target would drive out everything else, itself included.
bool StreamsTarget(const RelayoutTask& task);

// The best plan by the cost function.
MovePlan MakeMovePlan(const RelayoutTask& task);

// The plan of this choice; nullopt where its route leads nowhere.
std::optional<MovePlan> MakeMovePlan(const RelayoutTask& task, const PlanChoice& choice);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_PLANNER_H_
