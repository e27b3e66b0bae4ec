// The kernel `blocks`: a run along one axis of the source, a run along another of the target: transposes,
// interleavings, short rows. Elements may have their bytes in another order within, and groups of elements may be
// padded on the way.
#ifndef KASHI_RELAYOUT_KERNELS_BLOCKS_H_
#define KASHI_RELAYOUT_KERNELS_BLOCKS_H_

#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "kashi/relayout/kernels/kernel.h"
#include "kashi/relayout/simd/line_tiles.h"
#include "kashi/relayout/simd/streamed_transpose.h"
#include "kashi/relayout/simd/transpose_kernels.h"

namespace kashi::relayout {

struct BlocksPlan {
  static constexpr char kName[] = "blocks";
  static constexpr int kBoxes = kBytes | kGroups;
  static constexpr double kCost = 1.5;
  static TryResult<BlocksPlan> Try(const BoxOffer& offer);
  void Run(const Task& task) const;  // blocks_run.cc
  int64_t TaskBytes(const TaskGrid& grid, const PlanContext& context) const;
  BlockRuns Runs(const TaskGrid& grid, const PlanContext& context) const;
  void Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const;

  // Moves a block whose rows become columns, by `transpose` if there is one.
  void Transpose(const TransposeBlock& block) const;

  int64_t element_bytes;
  TransposeFunction transpose;  // nullptr: an element size without one
  // Byte i of an element comes from byte shuffle[i]. Empty: bytes stay.
  absl::InlinedVector<uint8_t, 16> shuffle;
  Offsets rows = {};             // in the source, bytes
  Offsets columns = {};          // in the target
  int64_t dense_columns = 1;     // of a block, that follow one another in the target without gaps, if rows are not cut
  bool runs_fill_lines = false;  // all of the target's cache lines belong to one block, if the first does
  // For long blocks in a streamed target, and for blocks within the caches; nullptr: by `transpose`.
  StreamedTransposeFunction streamed_transpose = nullptr;
  LineTilesFunction line_tiles = nullptr;
};

}  // namespace kashi::relayout

#endif  // KASHI_RELAYOUT_KERNELS_BLOCKS_H_
