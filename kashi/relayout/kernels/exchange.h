// The kernel `exchange`: runs of words of a few elements on both sides, which change partners (exchange_kernel.h).
//
//   bf16, in pairs on both sides, but others:   128 (4 -> 4) x 2 (524288 -> 2) x 2 (2 -> 393216)
//                                               words          source rows     target rows
#ifndef KASHI_RELAYOUT_KERNELS_EXCHANGE_H_
#define KASHI_RELAYOUT_KERNELS_EXCHANGE_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/simd/exchange_kernel.h"

namespace kashi::relayout {

// Tasks: rows of the grid are runs of words, columns the words.
struct ExchangePlan {
  static constexpr char kName[] = "exchange";
  static constexpr int kBoxes = kBytes;
  static constexpr double kCost = 1.1;
  static TryResult<ExchangePlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  int64_t element_bytes;
  ExchangeFunction function;
  Loop sources;                 // rows of words of the source that change partners with one another
  Loop targets = {1, 0, 0};     // likewise, of the target
  Loop row_stride = {1, 0, 0};  // from run to run
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_EXCHANGE_H_
