// The kernel `rows`: runs of bytes on both sides that are long, or that fill whole cache lines.
#ifndef KASHI_RELAYOUT_KERNELS_ROWS_H_
#define KASHI_RELAYOUT_KERNELS_ROWS_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"

namespace kashi::relayout {

// Tasks: rows of the grid are rows, columns their bytes.
struct RowsPlan {
  static constexpr char kName[] = "rows";
  static constexpr int kBoxes = kBytes;
  static constexpr double kCost = 1;
  static TryResult<RowsPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  int64_t row_bytes;
  Loop row_stride = {1, 0, 0};
  Loop outer_row_stride = {1, 0, 0};  // from grid.rows.whole rows to the next
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_ROWS_H_
