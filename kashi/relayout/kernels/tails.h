// The kernel `tails`: runs on one side; on the other side words of which they are a part, and padding the rest
// (groups.h).
#ifndef KASHI_RELAYOUT_KERNELS_TAILS_H_
#define KASHI_RELAYOUT_KERNELS_TAILS_H_

#include <cstdint>
#include <string>

#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/simd/transpose_kernels.h"

namespace kashi::relayout {

constexpr int64_t kTailTask = 8192;  // bytes of words, at most

// Tasks: columns of the grid are words, rows are runs of them.
struct TailsPlan {
  static constexpr char kName[] = "tails";
  static constexpr int kBoxes = kTails;
  static constexpr double kCost = 1.5;
  static TryResult<TailsPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const { fills_words ? FillWords(task) : ReadWords(task); }
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  void FillWords(const Task& task) const;  // of the target
  void ReadWords(const Task& task) const;  // of the source

  int64_t element_bytes;
  int64_t word_elements;  // padding included
  bool fills_words;       // the words are the target's
  TransposeFunction transpose;
  Loop elements = {1, 0, 0};    // of a word that are not padding; as many rows on the other side
  Loop row_stride = {1, 0, 0};  // from run to run
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_TAILS_H_
