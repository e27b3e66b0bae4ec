#include "kashi/relayout/nests/task_grid.h"

#include <cstdlib>

namespace kashi::relayout {

int64_t TaskGrid::TaskCount() const {
  int64_t count = 1;
  for (const GridLoop& loop : loops) count *= loop.count;
  return count;
}

TaskGrid MakeGrid(const Box& box, const Loops& loops, const Axis& rows, const Axis& columns,
                  std::initializer_list<GridLoop> chunks, bool streams) {
  TaskGrid grid;
  grid.from_offset = box.from_offset;
  grid.to_offset = box.to_offset;
  grid.rows = rows;
  grid.columns = columns;
  for (const Loop& loop : loops) grid.loops.push_back({loop.extent, loop.from, loop.to});
  for (const GridLoop& chunk : chunks) {
    if (chunk.count > 1) grid.loops.push_back(chunk);
  }
  const auto side = streams ? &GridLoop::from : &GridLoop::to;
  std::stable_sort(grid.loops.begin(), grid.loops.end(),
                   [side](const GridLoop& a, const GridLoop& b) { return std::abs(a.*side) > std::abs(b.*side); });
  return grid;
}

TaskWalk::TaskWalk(const TaskGrid& grid, int64_t task) : grid_(grid), index_(grid.loops.size()) {
  block_.from = grid.from_offset;
  block_.to = grid.to_offset;
  for (size_t i = index_.size(); i-- > 0;) {
    const GridLoop& loop = grid.loops[i];
    index_[i] = task % loop.count;
    task /= loop.count;
    block_.from += index_[i] * loop.from;
    block_.to += index_[i] * loop.to;
  }
  Resize();
}

void TaskWalk::Next() {
  for (size_t i = index_.size(); i-- > 0;) {
    const GridLoop& loop = grid_.loops[i];
    block_.from += loop.from;
    block_.to += loop.to;
    if (++index_[i] < loop.count) break;
    block_.from -= loop.count * loop.from;
    block_.to -= loop.count * loop.to;
    index_[i] = 0;
  }
  Resize();
}

void TaskWalk::Resize() {
  int64_t row_chunk = 0, column_chunk = 0;
  for (size_t i = 0; i < index_.size(); ++i) {
    if (grid_.loops[i].over == GridLoop::Over::kRows) row_chunk = index_[i];
    if (grid_.loops[i].over == GridLoop::Over::kColumns) column_chunk = index_[i];
  }
  const Axis& rows = grid_.rows;
  const int64_t rows_behind = rows.whole * (rows.extent - (row_chunk + 1) * rows.chunk);
  block_.rows = rows.BlockAt(row_chunk);
  block_.overhang = row_chunk + 1 == rows.chunk_count() ? 0 : std::min(rows.overhang, rows_behind);
  block_.is_first_of_rows = row_chunk == 0;
  block_.columns = grid_.columns.BlockAt(column_chunk);
  block_.columns_before = column_chunk * grid_.columns.block();
}

}  // namespace kashi::relayout
