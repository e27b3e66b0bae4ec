// The kernel `elements`: one by one. It can always.
#ifndef KASHI_RELAYOUT_KERNELS_ELEMENTS_H_
#define KASHI_RELAYOUT_KERNELS_ELEMENTS_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"

namespace kashi::relayout {

// Elements that have no neighbours on either side still share cache lines: those close in the target are the rows of a
// block, those close in the source its columns.
struct ElementsPlan {
  static constexpr char kName[] = "elements";
  static constexpr int kBoxes = kBytes | kConverting;
  static constexpr double kCost = 1;
  static TryResult<ElementsPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  int64_t element_bytes;  // 0: each changes its form
  Loop row_stride = {1, 0, 0};
  Loop column_stride = {1, 0, 0};
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_ELEMENTS_H_
