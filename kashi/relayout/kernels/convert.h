// The kernel `convert`: runs on both sides whose elements change their form (type, packing).
#ifndef KASHI_RELAYOUT_KERNELS_CONVERT_H_
#define KASHI_RELAYOUT_KERNELS_CONVERT_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"

namespace kashi::relayout {

// Tasks: columns of the grid are elements of a run.
struct ConvertPlan {
  static constexpr char kName[] = "convert";
  static constexpr int kBoxes = kConverting;
  static constexpr double kCost = 1.5;
  static TryResult<ConvertPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;
};

// A run of the target that changes its form on the way from slots of `slot_bits`; with non-temporal stores, if the plan
// streams.
void ConvertRun(const PlanContext& context, const RowFunction& function, int64_t slot_bits, const char* from,
                int64_t from_bit, char* to, int64_t to_bit, int64_t count);

// Sets shares_bytes and tasks_together. `columns`: where runs of a block are in the target, bits; may be empty. Slots
// of the target have `slot_bits`.
void FindSharedBytes(const Offsets& columns, int64_t slot_bits, TaskGrid* grid);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_CONVERT_H_
