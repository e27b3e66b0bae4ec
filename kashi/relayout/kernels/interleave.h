// The kernel `interleave`: 2 to 8 rows of one side that are one run of the other (interleave_kernel.h).
#ifndef KASHI_RELAYOUT_KERNELS_INTERLEAVE_H_
#define KASHI_RELAYOUT_KERNELS_INTERLEAVE_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/simd/interleave_kernel.h"

namespace kashi::relayout {

// Tasks: rows of the grid are rows of all interleavings, columns the elements of a row. A task has all of `inner`, and
// a chunk of `outer`.
struct InterleavePlan {
  static constexpr char kName[] = "interleave";
  static constexpr int kBoxes = kBytes;
  static constexpr double kCost = 1.1;
  static TryResult<InterleavePlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  int64_t element_bytes;
  int64_t rows;        // of an interleaving
  bool is_back;        // a run becomes rows
  int64_t row_stride;  // bytes, on the side that has rows
  InterleaveFunctions functions;
  Loop inner = {1, 0, 0};
  Loop outer = {1, 0, 0};
  // For runs that become rows in a streamed target: rows are long, and moved in parts that may share cache lines; or
  // they are short, and continue with the next interleaving of `outer`.
  bool has_long_rows = false;
  bool continues_rows = false;
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_INTERLEAVE_H_
