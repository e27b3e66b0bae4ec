#include "kashi/relayout/kernels/elements.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "kashi/array/element_bytes.h"
#include "kashi/relayout/nests/axes.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kElementsChunk = 64;     // along either axis
constexpr int64_t kBytesOfAnElement = 16;  // bytes that rows would move in the time of one element

template <int kBytes>
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

// Elements of any size, at any distance.
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count, int64_t bytes) {
  const bool is_moved = array::WithElementBytes(bytes, false, [&](auto size) {
    MoveElements<size>(from, from_stride, to, to_stride, count);
    return true;
  });
  if (is_moved) return;
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
}

Axis AxisOf(const Loop& loop) { return {1, loop.extent, std::min(loop.extent, kElementsChunk)}; }

}  // namespace

TryResult<ElementsPlan> ElementsPlan::Try(const BoxOffer& offer) {
  Loops loops = offer.box.loops;
  ElementsPlan plan;
  plan.element_bytes = offer.element_bytes;
  if (!loops.empty()) plan.row_stride = TakeLoop(loops.size() - 1, &loops);
  if (!loops.empty()) plan.column_stride = TakeLoop(Innermost(loops, &Loop::from), &loops);
  const Axis rows = AxisOf(plan.row_stride), columns = AxisOf(plan.column_stride);
  TaskGrid grid = MakeGrid(offer.box, loops, rows, columns,
                           {ChunksOf(rows, plan.row_stride, GridLoop::Over::kRows),
                            ChunksOf(columns, plan.column_stride, GridLoop::Over::kColumns)},
                           offer.context.streams());
  grid.shares_bytes = !IsWhole(offer.context.to.slot_bits);
  if (grid.shares_bytes) grid.tasks_together = grid.TaskCount();
  return Planned<ElementsPlan>{std::move(grid), plan};
}

void ElementsPlan::Run(const Task& task) const {
  const Block& block = task.block;
  for (int64_t c = 0; c < block.columns; ++c) {
    const int64_t from_bit = block.from + c * column_stride.from, to_bit = block.to + c * column_stride.to;
    if (element_bytes > 0) {
      MoveElements(task.from + from_bit / 8, row_stride.from / 8, task.to + to_bit / 8, row_stride.to / 8, block.rows,
                   element_bytes);
      continue;
    }
    for (int64_t r = 0; r < block.rows; ++r) {
      CallRowFunction(task.context.convert, task.from, from_bit + r * row_stride.from, task.to,
                      to_bit + r * row_stride.to, 1);
    }
  }
}

int64_t ElementsPlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const {
  return grid.TaskElements() * kBytesOfAnElement;
}

BlockRuns ElementsPlan::Runs(const TaskGrid&, const PlanContext&) const {
  const int64_t bytes = std::max<int64_t>(1, element_bytes);
  return {bytes, bytes};
}

void ElementsPlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, ": ", grid.rows.block(), " x ", grid.columns.block());
}

}  // namespace kashi::relayout
