// ConvertPlan; and which tasks of packed elements may share bytes of the target: one thread runs those.
#include "kashi/relayout/kernels/convert.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/math.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kConvertChunk = 4096;  // elements

// Bits of the target from the first that a task writes to the last.
int64_t SpanOfTask(const TaskGrid& grid, const Offsets& columns, int64_t slot_bits) {
  if (columns.at.empty()) return grid.columns.block() * slot_bits;
  return grid.rows.block() * slot_bits + *std::max_element(columns.at.begin(), columns.at.end());
}

// The length that a loop adds to a span. The last chunk of an axis may be shorter than the others.
int64_t ReachOf(const TaskGrid& grid, const GridLoop& loop) {
  const int64_t reach = (loop.count - 1) * loop.to;
  if (loop.over == GridLoop::Over::kOuter) return reach;
  const Axis& axis = loop.over == GridLoop::Over::kRows ? grid.rows : grid.columns;
  return reach - (loop.count * axis.chunk - axis.extent) * (loop.to / axis.chunk);
}

// Whether tasks, of this step or of another one of the array, may write bits of one byte. They do not if all runs begin
// with a byte, nor if all begin with one but those within a block, and blocks are far enough apart.
bool SharesBytes(const TaskGrid& grid, const Offsets& columns, int64_t slot_bits) {
  if (IsWhole(slot_bits)) return false;
  bool whole = IsWhole(grid.to_offset), apart = true;
  const int64_t span = SpanOfTask(grid, columns, slot_bits);
  for (const GridLoop& loop : grid.loops) {
    whole = whole && IsWhole(loop.to);
    apart = apart && loop.to >= RoundUpTo<int64_t>(span, 8);
  }
  for (int64_t offset : columns.at) {
    if (!whole || (!apart && !IsWhole(offset))) return true;
  }
  return !whole;
}

// Whether spans at all places of the grid's first `count` loops share no byte.
bool SpansAreApart(const TaskGrid& grid, size_t count, int64_t span, int64_t slot_bits) {
  absl::InlinedVector<GridLoop, 6> loops(grid.loops.begin(), grid.loops.begin() + count);
  std::sort(loops.begin(), loops.end(), [](const GridLoop& a, const GridLoop& b) { return a.to < b.to; });
  const bool whole = IsWhole(grid.to_offset) &&
                     std::all_of(loops.begin(), loops.end(), [](const GridLoop& loop) { return IsWhole(loop.to); });
  if (!whole) span += 8 - slot_bits;  // the next one may begin with the byte behind that of the last slot
  for (const GridLoop& loop : loops) {
    if (loop.to < span) return false;
    span += ReachOf(grid, loop);
  }
  return true;
}

// The number of tasks that, from a multiple of it on, share no byte with the others: those of the innermost loops, or
// of all.
//
//   rows of odd length, cut in chunks       | row 0 chunk 0 | row 0 chunk 1 | row 1 chunk 0 | row 1 chunk 1 |
//   eight rows begin with a byte            together: all chunks of eight rows
int64_t TasksTogether(const TaskGrid& grid, const Offsets& columns, int64_t slot_bits) {
  if (!grid.shares_bytes) return 1;
  int64_t together = 1, span = SpanOfTask(grid, columns, slot_bits);
  size_t outer = grid.loops.size();
  for (; !SpansAreApart(grid, outer, span, slot_bits); --outer) {
    const GridLoop& loop = grid.loops[outer - 1];
    together *= loop.count;
    span += ReachOf(grid, loop);
  }
  return together;
}

}  // namespace

void FindSharedBytes(const Offsets& columns, int64_t slot_bits, TaskGrid* grid) {
  grid->shares_bytes = SharesBytes(*grid, columns, slot_bits);
  grid->tasks_together = TasksTogether(*grid, columns, slot_bits);
}

void ConvertRun(const PlanContext& context, const RowFunction& function, int64_t slot_bits, const char* from,
                int64_t from_bit, char* to, int64_t to_bit, int64_t count) {
  constexpr int64_t kPortion = 4096;  // elements
  const int64_t to_bits = context.to.slot_bits;
  if (!context.streams() || (to_bit | count * to_bits) % 8 != 0) {
    return CallRowFunction(function, from, from_bit, to, to_bit, count);
  }
  alignas(64) char buffer[kPortion * 16];  // stays in L1
  for (int64_t i = 0; i < count; i += kPortion) {
    const int64_t portion = std::min(kPortion, count - i);
    CallRowFunction(function, from, from_bit + i * slot_bits, buffer, 0, portion);
    StreamCopy(to + (to_bit + i * to_bits) / 8, buffer, portion * to_bits / 8);
  }
}

TryResult<ConvertPlan> ConvertPlan::Try(const BoxOffer& offer) {
  Loops loops = offer.box.loops;
  const int64_t from_bits = offer.context.from.slot_bits, to_bits = offer.context.to.slot_bits;
  size_t unit = 0;
  while (unit < loops.size() && (loops[unit].from != from_bits || loops[unit].to != to_bits)) ++unit;
  if (unit == loops.size()) return Refusal{"convert: no run that both sides have"};
  const Loop run = TakeLoop(unit, &loops);
  const Axis columns = {1, run.extent, std::min(run.extent, kConvertChunk)};
  TaskGrid grid = MakeGrid(offer.box, loops, {}, columns, {ChunksOf(columns, run, GridLoop::Over::kColumns)},
                           offer.context.streams());
  FindSharedBytes({}, to_bits, &grid);
  return Planned<ConvertPlan>{std::move(grid), {}};
}

void ConvertPlan::Run(const Task& task) const {
  ConvertRun(task.context, task.context.convert, task.context.from.slot_bits, task.from, task.block.from, task.to,
             task.block.to, task.block.columns);
}

int64_t ConvertPlan::TaskBytes(const TaskGrid& grid, const PlanContext& context) const {
  return CeilOfRatio<int64_t>(grid.columns.block() * context.to.slot_bits, 8);
}

BlockRuns ConvertPlan::Runs(const TaskGrid& grid, const PlanContext& context) const {
  const int64_t elements = grid.columns.extent;
  return {CeilOfRatio<int64_t>(elements * context.from.slot_bits, 8),
          CeilOfRatio<int64_t>(elements * context.to.slot_bits, 8)};
}

void ConvertPlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(grid.columns.extent, "element"));
}

}  // namespace kashi::relayout
