#include "kashi/relayout/run/execute.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/base/math.h"
#include "kashi/base/parallel.h"
#include "kashi/relayout/run/index_loop.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kTaskBytes = 64 << 10;  // that a thread takes at a time, at least

// Whether two steps have the same outermost loop, one long enough to be shared by all threads. (A step that shares
// bytes with others is run on its own.)
bool RunsBeside(const Step& a, const Step& b) {
  if (a.grid.loops.empty() || b.grid.loops.empty() || a.grid.shares_bytes || b.grid.shares_bytes) return false;
  const GridLoop &x = a.grid.loops[0], &y = b.grid.loops[0];
  return x.count >= 8 * base::ParallelThreadCount() && x.count == y.count && x.from == y.from && x.to == y.to;
}

// A loop that `threads` threads share (0: all of the machine): ranges of at least `grain`.
void RunShared(int64_t count, int64_t grain, int threads, absl::FunctionRef<void(int64_t begin, int64_t end)> run) {
  if (threads > 0) grain = std::max(grain, CeilOfRatio<int64_t>(count, threads));
  if (count <= grain || threads == 1) return run(0, count);
  base::ParallelFor(count, grain, [&](int64_t begin, int64_t end, int) { run(begin, end); });
}

// Steps that begin with the same loop run together, a few iterations at a time: if one writes a part of a cache line,
// the other soon completes it, while the line is still in the caches.
//
//   ragged rows    |  whole tiles    | rest |  whole tiles    | rest |      two boxes, whose rows alternate in memory
void RunInLockstep(absl::Span<const Step> steps, int threads, const char* source, char* target) {
  const TaskGrid& first = steps[0].grid;
  const int64_t iterations = steps.size() > 1 ? first.loops[0].count : first.TaskCount() / first.tasks_together;
  int64_t bytes = 0;  // of an iteration
  for (const Step& step : steps) bytes += step.TaskBytes() * (step.TaskCount() / iterations);
  const int64_t at_once = std::max<int64_t>(1, kTaskBytes / std::max<int64_t>(1, bytes));
  RunShared(iterations, at_once, threads, [&](int64_t begin, int64_t end) {
    const int64_t portion = steps.size() > 1 ? at_once : end - begin;
    for (int64_t i = begin; i < end; i += portion) {
      for (const Step& step : steps) {
        const int64_t tasks = step.TaskCount() / iterations;
        RunStep(step, source, target, i * tasks, std::min(i + portion, end) * tasks);
      }
    }
  });
}

void RunSteps(const std::vector<Step>& steps, int threads, const char* source, char* target) {
  for (size_t i = 0; i < steps.size();) {
    size_t end = i + 1;
    while (end < steps.size() && RunsBeside(steps[i], steps[end])) ++end;
    RunInLockstep({&steps[i], end - i}, threads, source, target);
    i = end;
  }
}

void RunAllStrips(const std::vector<Strips>& all, int threads, const char* source, char* target) {
  for (const Strips& strips : all) {
    RunShared(strips.Count(), std::max<int64_t>(1, kTaskBytes / strips.bytes), threads,
              [&](int64_t begin, int64_t end) { RunStrips(strips, source, target, begin, end); });
  }
}

void ExecutePadding(const RelayoutTask& task, const MovePlan& plan, bool in_place, char* target) {
  if (!task.clears_padding()) return;
  if (plan.padding.refusal.empty() && !(in_place && plan.padding.writes_elements)) {
    RunSteps(plan.padding.steps, task.options.threads, plan.padding.pattern.data(), target);
  } else {
    ClearByIndex(task, target);
  }
  ClearLastBits(task.to, target);
}

}  // namespace

void ExecutePlan(const RelayoutTask& task, const MovePlan& plan, const char* source, char* target) {
  const bool in_place = plan.is_identity && source == target;
  ExecutePadding(task, plan, in_place, target);
  if (in_place) return;
  if (!plan.refusal.empty()) return MoveByIndex(task, plan.context->convert, source, target);
  RunAllStrips(plan.strips, task.options.threads, source, target);
  RunSteps(plan.steps, task.options.threads, source, target);
}

}  // namespace kashi::relayout
