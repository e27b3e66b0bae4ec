#include "kashi/relayout/plan/cost.h"

#include <algorithm>
#include <cstdint>

#include "kashi/relayout/nests/block_sizes.h"

namespace kashi::relayout {
namespace {

constexpr double kStepCost = 256;     // to begin with a step
constexpr double kScratchCost = 0.2;  // of a byte that goes through scratch memory

// Bytes of cache lines that a run touches for each of its own, where it begins anywhere in a line.
double TouchedBytes(int64_t run) {
  const auto bytes = static_cast<double>(std::max<int64_t>(1, run));
  return (bytes + kCacheLine - 1) / bytes;
}

}  // namespace

double CostOf(const Step& step) {
  const KernelRow& row = KernelOf(step.kernel);
  const BlockRuns runs = row.runs(step.kernel, step.grid, *step.context);
  const double bytes = static_cast<double>(step.TaskCount()) * static_cast<double>(step.TaskBytes());
  return kStepCost + bytes * row.cost * (TouchedBytes(runs.from) + TouchedBytes(runs.to)) / 2;
}

double CostOf(const Strips& strips) {
  double cost = kScratchCost * static_cast<double>(strips.bytes);
  for (const Step& part : strips.parts) cost += CostOf(part) - kStepCost;
  return kStepCost + static_cast<double>(strips.Count()) * cost;
}

}  // namespace kashi::relayout
