// A box with the kernel that moves it: one step of a plan.
#ifndef KASHI_RELAYOUT_PLAN_STEP_H_
#define KASHI_RELAYOUT_PLAN_STEP_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/container/inlined_vector.h"
#include "kashi/relayout/kernels/kernel_table.h"
#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/nests/context.h"
#include "kashi/relayout/nests/task_grid.h"

namespace kashi::relayout {

struct Step {
  SharedContext context;
  Box box;
  TaskGrid grid;
  KernelPlan kernel;
  absl::InlinedVector<const char*, 4> refusals;  // of the kernels before this one

  int64_t TaskCount() const { return grid.TaskCount(); }
  int64_t TaskBytes() const { return KernelOf(kernel).task_bytes(kernel, grid, *context); }  // of the target, about
  // Without the box.
  std::string ToString() const;
};

// The step for a box, by the first kernel that takes it.
Step MakeStep(const SharedContext& context, const Box& box);

// Makes a step for a side that has groups. Nothing if they do not become blocks.
std::optional<Step> MakeGroupStep(const SharedContext& context, const Box& box);

// Makes a step for a box that is a tail on the side with words (groups.h): all of each word may be read, or written.
std::optional<Step> MakeTailStep(const SharedContext& context, const Box& box, int64_t word_elements, bool fills_words);

// Runs tasks begin .. end - 1.
void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_PLAN_STEP_H_
