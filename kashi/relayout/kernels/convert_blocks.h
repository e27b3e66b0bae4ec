// The kernel `convert blocks`: as `blocks`, for elements that change their form before or behind the transpose, or are
// no whole bytes.
#ifndef KASHI_RELAYOUT_KERNELS_CONVERT_BLOCKS_H_
#define KASHI_RELAYOUT_KERNELS_CONVERT_BLOCKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/simd/transpose_kernels.h"

namespace kashi::relayout {

// The side of a block that has words of 8 elements of 4 bits, which are far apart on the other side (nibble_words.h).
enum class NibbleWords { kNone, kOfTarget, kOfSource };

struct ConvertBlocksPlan {
  static constexpr char kName[] = "convert blocks";
  static constexpr int kBoxes = kConverting;
  static constexpr double kCost = 2;
  static TryResult<ConvertBlocksPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;  // convert_blocks_run.cc
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  int64_t element_bytes;  // of an element in scratch memory
  TransposeFunction transpose;
  Offsets rows = {};                    // in the source, bits
  Offsets columns = {};                 // in the target
  std::vector<int64_t> row_bytes = {};  // rows in bytes, if all begin with one
  int64_t dense_columns = 1;            // as of BlocksPlan
  bool runs_fill_bytes = false;         // the columns of a block are whole bytes apart in the target
  NibbleWords words = NibbleWords::kNone;
};

// Tasks of a plan that has words: convert_words_run.cc.
void RunNibbleWords(const ConvertBlocksPlan& plan, const Task& task);

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_CONVERT_BLOCKS_H_
