// Plans that write the padding of the target: steps whose source is a prepared pattern. They run before those of the
// elements, and may write more than padding.
#ifndef KASHI_RELAYOUT_PLAN_PADDING_H_
#define KASHI_RELAYOUT_PLAN_PADDING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kashi/relayout/nests/context.h"
#include "kashi/relayout/nests/digits.h"
#include "kashi/relayout/plan/problem.h"
#include "kashi/relayout/plan/step.h"

namespace kashi::relayout {

struct PaddingPlan {
  std::vector<Step> steps;
  std::vector<char> pattern;     // the steps' source
  std::string refusal;           // why padding goes by the index loop, if it does
  bool writes_elements = false;  // the steps write all of the target
};

// Pre: task.clears_padding(). `filled`: digits of the target with that padding as elements which is written with them.
// `stays`: elements are in their places already, and must not be written.
PaddingPlan PlanPadding(const RelayoutTask& task, const SharedContext& context, const std::optional<Digits>& filled,
                        bool stays);

// Whole slots of padding.
std::vector<char> PaddingBytes(const RelayoutTask& task, int64_t bytes);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_PADDING_H_
