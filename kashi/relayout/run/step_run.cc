// Entry point: RunStep. A walk over the grid of blocks; for each, the kernel of the step. The shortest are here.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/container/inlined_vector.h"
#include "kashi/array/element_bytes.h"
#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/run/run_block.h"

namespace kashi::internal {
namespace {

// The grid's indices, stepped like an odometer.
class GridWalk {
 public:
  GridWalk(const Step& step, int64_t task) : step_(step), index_(step.grid.size()) {
    block_.from = step.from_offset;
    block_.to = step.to_offset;
    for (size_t i = index_.size(); i-- > 0;) {
      const GridLoop& loop = step.grid[i];
      index_[i] = task % loop.count;
      task /= loop.count;
      block_.from += index_[i] * loop.from;
      block_.to += index_[i] * loop.to;
    }
    Resize();
  }

  const Block& block() const { return block_; }

  void Next() {
    for (size_t i = index_.size(); i-- > 0;) {
      const GridLoop& loop = step_.grid[i];
      block_.from += loop.from;
      block_.to += loop.to;
      if (++index_[i] < loop.count) break;
      block_.from -= loop.count * loop.from;
      block_.to -= loop.count * loop.to;
      index_[i] = 0;
    }
    Resize();
  }

 private:
  // The last chunk of an axis may be shorter.
  void Resize() {
    int64_t row_chunk = 0, column_chunk = 0;
    for (size_t i = 0; i < index_.size(); ++i) {
      if (step_.grid[i].over == GridLoop::Over::kRows) row_chunk = index_[i];
      if (step_.grid[i].over == GridLoop::Over::kColumns) column_chunk = index_[i];
    }
    const Axis& rows = step_.rows;
    block_.rows = rows.BlockAt(row_chunk);
    block_.overhang = row_chunk + 1 == rows.chunk_count()
                          ? 0
                          : std::min(rows.overhang, rows.whole * (rows.extent - (row_chunk + 1) * rows.chunk));
    block_.is_first_of_rows = row_chunk == 0;
    block_.columns = step_.columns.BlockAt(column_chunk);
    block_.columns_before = column_chunk * step_.columns.block();
  }

  const Step& step_;
  absl::InlinedVector<int64_t, 6> index_;
  Block block_;
};

template <int kBytes>
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

// Elements of any size, at any distance.
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count, int64_t bytes) {
  const bool is_moved = WithElementBytes(bytes, false, [&](auto size) {
    MoveElements<size>(from, from_stride, to, to_stride, count);
    return true;
  });
  if (is_moved) return;
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

void RunElements(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& row = step.row_stride;
  const Loop& column = step.column_stride;
  for (int64_t c = 0; c < block.columns; ++c) {
    const int64_t from_bit = block.from + c * column.from, to_bit = block.to + c * column.to;
    if (!step.converts) {
      MoveElements(from + from_bit / 8, row.from / 8, to + to_bit / 8, row.to / 8, block.rows, step.element_bytes);
      continue;
    }
    for (int64_t r = 0; r < block.rows; ++r) {
      CallRowFunction(step.context->convert, from, from_bit + r * row.from, to, to_bit + r * row.to, 1);
    }
  }
}

// Short rows, of which those of the outer loop follow one another in the target: two of them at once, so that the source is read
// in its order, and the target still written in pairs of lines.
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

void RunRows(const Step& step, const Block& block, const char* from, char* to) {
  constexpr int64_t kShort = 512;
  const Loop &row = step.row_stride, &outer = step.outer_row_stride;
  RowNest nest = {{from + block.from / 8, row.from / 8, to + block.to / 8, row.to / 8, block.rows, block.columns},
                  1,
                  outer.from / 8,
                  outer.to / 8};
  if (outer.extent == 1) return step.context->streams ? StreamRows(nest.inner) : CopyRows(nest.inner);
  nest.inner.rows = step.rows.whole;
  nest.count = block.rows / step.rows.whole;
  if (step.context->streams) return StreamRowNest(nest);
  const bool in_pairs = block.columns < kShort && nest.to_stride == block.columns;
  in_pairs ? CopyPairsOfRows(nest) : CopyRowNest(nest);
}

void RunTask(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  switch (step.kernel) {
    case Kernel::kRows:
      return RunRows(step, block, from, to);
    case Kernel::kExchange:
      return RunExchange(step, block, from, to);
    case Kernel::kTails:
      return step.fills_words ? RunFilledWords(step, block, from, to) : RunPartOfWords(step, block, from, to);
    case Kernel::kInterleave:
      return RunInterleaving(step, block, next, from, to);
    case Kernel::kBlocks:
      return RunBlock(step, block, next, from, to);
    case Kernel::kConvert:
      return ConvertRun(step, step.context->convert, step.context->from.slot_bits, from, block.from, to, block.to,
                        block.columns);
    case Kernel::kConvertBlocks:
      return RunConvertBlock(step, block, next, from, to);
    case Kernel::kElements:
      return RunElements(step, block, from, to);
  }
}

}  // namespace

void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end) {
  if (begin >= end) return;
  GridWalk walk(step, begin);
  for (int64_t task = begin; task < end; ++task) {
    const Block block = walk.block();
    if (task + 1 < end) walk.Next();
    RunTask(step, block, walk.block(), from, to);
  }
  if (step.context->streams) StreamFence();
}

}  // namespace kashi::internal
