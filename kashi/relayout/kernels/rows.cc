#include "kashi/relayout/kernels/rows.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kLongRow = 512;  // bytes: rows that need no line of their own

// If a task has all rows of the first loop, it takes as many of the next one as it wants: the loop that would follow
// in the grid, so that the order of rows stays. The outermost loop is left for boxes that run side by side. Returns the
// loop over chunks.
GridLoop TakeMoreRows(const PlanContext& context, const TaskRows& first, Loops* loops, Axis* rows, RowsPlan* plan) {
  const int64_t inner_bytes = plan->row_bytes * rows->chunk;
  if (rows->chunk_count() > 1 || loops->size() < 2 || 2 * inner_bytes > context.sizes.task) return first.chunks();
  plan->outer_row_stride = TakeLoop(Innermost(*loops, context.streams() ? &Loop::from : &Loop::to), loops);
  const Loop& outer = plan->outer_row_stride;
  rows->whole = rows->extent;
  rows->extent = outer.extent;
  rows->chunk = ChunkOf(outer.extent, context.sizes.task / inner_bytes, 1);
  return ChunksOf(*rows, outer, GridLoop::Over::kRows);
}

// Copies short rows, where those of the outer loop follow one another in the target: two of them at once, so that the
// source is read in its order, and the target still written in pairs of lines.
void CopyPairsOfRows(const RowNest& nest) {
  const RowCopy& inner = nest.inner;
  for (int64_t i = 0; i < nest.count; i += 2) {
    CopyRowNest({{inner.from + i * nest.from_stride, nest.from_stride, inner.to + i * nest.to_stride, nest.to_stride,
                  std::min<int64_t>(2, nest.count - i), inner.bytes},
                 inner.rows,
                 inner.from_stride,
                 inner.to_stride});
  }
}

}  // namespace

TryResult<RowsPlan> RowsPlan::Try(const BoxOffer& offer) {
  Loops loops = offer.box.loops;
  RowsPlan plan;
  const int64_t bytes = plan.row_bytes = offer.element_bytes;
  bool fills_lines = bytes % kCacheLine == 0;
  for (const Loop& loop : loops) fills_lines = fills_lines && loop.to % (8 * kCacheLine) == 0;
  const bool is_continued = FindLoop(loops, &Loop::to, bytes * 8) < loops.size();
  if (!loops.empty() && bytes < kLongRow && !fills_lines && (bytes < kCacheLine || is_continued)) {
    return Refusal{"rows: shorter than 512 bytes and not whole cache lines"};
  }
  const Axis columns = {1, bytes, std::min(bytes, offer.context.sizes.long_task)};
  const TaskRows first = TakeTaskRows(bytes, offer.context, &loops);
  plan.row_stride = first.stride;
  Axis rows = first.axis;
  const GridLoop over_rows = TakeMoreRows(offer.context, first, &loops, &rows, &plan);
  const GridLoop over_columns = ChunksOf(columns, {bytes, 8, 8}, GridLoop::Over::kColumns);
  return Planned<RowsPlan>{
      MakeGrid(offer.box, loops, rows, columns, {over_rows, over_columns}, offer.context.streams()), plan};
}

void RowsPlan::Run(const Task& task) const {
  const bool streams = task.context.streams();
  const Block& block = task.block;
  RowNest nest = {{task.from + block.from / 8, row_stride.from / 8, task.to + block.to / 8, row_stride.to / 8,
                   block.rows, block.columns},
                  1,
                  outer_row_stride.from / 8,
                  outer_row_stride.to / 8};
  if (outer_row_stride.extent == 1) return streams ? StreamRows(nest.inner) : CopyRows(nest.inner);
  nest.inner.rows = task.grid.rows.whole;
  nest.count = block.rows / task.grid.rows.whole;
  if (streams) return StreamRowNest(nest);
  const bool in_pairs = block.columns < kLongRow && nest.to_stride == block.columns;
  in_pairs ? CopyPairsOfRows(nest) : CopyRowNest(nest);
}

int64_t RowsPlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const { return grid.TaskElements(); }

BlockRuns RowsPlan::Runs(const TaskGrid&, const PlanContext&) const { return {row_bytes, row_bytes}; }

void RowsPlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(row_bytes, "byte"), ", ", grid.rows.block(), " at a time");
}

}  // namespace kashi::relayout
