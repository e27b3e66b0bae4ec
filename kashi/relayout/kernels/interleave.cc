// InterleavePlan. In a streamed target runs become rows in long pieces.
#include "kashi/relayout/kernels/interleave.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/math.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/scratch.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kLongInterleavedRow = 4096;  // bytes: shorter ones lose much by a cache line at their ends

// ---- The plan

// The loop over few rows and the one over their columns, which `side` has in one run; taken out of the loops.
struct FewRows {
  Loop row;
  Loop column;
};
std::optional<FewRows> TakeFewRows(int64_t bits, int64_t Loop::*side, int64_t Loop::*other_side, Loops* loops) {
  const size_t r = FindLoop(*loops, side, bits);
  if (r == loops->size() || (*loops)[r].extent > kMostInterleavedRows) return std::nullopt;
  const size_t c = FindLoop(*loops, side, bits * (*loops)[r].extent);
  if (c == loops->size() || (*loops)[c].*other_side != bits) return std::nullopt;
  if ((*loops)[c].extent * bits < 8 * kCacheLine) return std::nullopt;
  const FewRows few = {(*loops)[r], (*loops)[c]};
  loops->erase(loops->begin() + std::max(r, c));
  loops->erase(loops->begin() + std::min(r, c));
  return few;
}

// Takes the loops of a task: those that continue where an interleaving ends, on this side. The others stay. Returns the
// axis of rows.
Axis TakeInterleavings(int64_t Loop::*side, int64_t unit_bytes, int64_t task_bytes, Loops* loops,
                       InterleavePlan* plan) {
  std::stable_sort(loops->begin(), loops->end(),
                   [side](const Loop& a, const Loop& b) { return std::abs(a.*side) > std::abs(b.*side); });
  // The outermost loop is left for boxes that run side by side, unless it only continues the others.
  const auto may_take = [&] {
    return loops->size() > 1 || (loops->size() == 1 && std::abs(loops->back().*side) < 16 * unit_bytes);
  };
  if (may_take() && loops->back().extent * unit_bytes <= task_bytes) {
    plan->inner = TakeLoop(loops->size() - 1, loops);
    unit_bytes *= plan->inner.extent;
  }
  Axis rows = {plan->rows * plan->inner.extent, 1, 1};
  if (!may_take() || 2 * unit_bytes > task_bytes) return rows;
  plan->outer = TakeLoop(loops->size() - 1, loops);
  rows.extent = plan->outer.extent;
  rows.chunk = ChunkOf(rows.extent, task_bytes / unit_bytes, 1);
  return rows;
}

// Whether all rows of the target begin and end with a cache line, if the first one begins so.
bool RowsFillLines(const Loop& row, const Loop& column, const Loops& others) {
  const auto is_line = [](int64_t bits) { return bits % (8 * kCacheLine) == 0; };
  return is_line(row.to) && is_line(column.to * column.extent) &&
         std::all_of(others.begin(), others.end(), [&](const Loop& loop) { return is_line(loop.to); });
}

// The columns of a chunk, in whole lines; the last chunk has at least a line, too.
int64_t InterleavedChunk(int64_t columns, int64_t wanted) {
  int64_t chunk = ChunkOf(columns, wanted, kCacheLine);
  while (chunk < columns && columns % chunk > 0 && columns % chunk < kCacheLine) chunk += kCacheLine;
  return std::min(chunk, columns);
}

// ---- Its tasks

void Prefetch(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(from + at);
}

// A part of each row after the other, put together in scratch memory: non-temporal stores want long runs. A line that
// two parts share is written by the first, whole.
//
//   row           |     part      |     part      |
//   target     |    line    |    line    |    line    |
class RunOfRows {
 public:
  RunOfRows(const InterleavePlan& plan, const Task& task)
      : plan_(plan),
        block_(task.block),
        behind_(task.grid.columns.extent - task.block.columns_before - task.block.columns),
        from_(task.from + task.block.from / 8),
        to_(task.to + task.block.to / 8) {}

  void Run() {
    const int64_t bytes = plan_.element_bytes;
    char* const scratch = Scratch::OfThread().Bytes(plan_.rows * kPitch);
    const int64_t part = kPartBytes / bytes;
    for (int64_t c = 0; c < block_.columns;) {
      const int64_t left = block_.columns - c, columns = left < 2 * part ? left : part;
      const int64_t all_behind = behind_ + left - columns;
      const int64_t beyond = std::min(all_behind, CeilOfRatio(kCacheLine, bytes));
      plan_.functions.deinterleave({from_ + c * plan_.rows * bytes, scratch, kPitch, columns + beyond});
      const int64_t ahead = std::min(all_behind, part) * bytes;
      for (int64_t r = 0; r < plan_.rows; ++r) {
        StreamLinesOfRows({scratch + r * kPitch, 0, to_ + c * bytes + r * plan_.row_stride, 0, 1, columns * bytes},
                          c + block_.columns_before > 0, beyond * bytes);
        Prefetch(from_ + (c + columns) * plan_.rows * bytes + r * ahead, ahead);
      }
      c += columns;
    }
  }

 private:
  static constexpr int64_t kPartBytes = 1024;
  static constexpr int64_t kPitch = 2 * kPartBytes + 3 * kCacheLine;  // rows do not collide

  const InterleavePlan& plan_;
  const Block& block_;
  int64_t behind_;  // columns of the other blocks
  const char* from_;
  char* to_;
};

// Moves interleavings that continue one another's rows, through scratch memory for the same reason.
void RunGathered(const InterleavePlan& plan, const InterleaveJob& job, const char* next) {
  const int64_t piece = job.columns * plan.element_bytes, row_bytes = job.outer.count * piece;
  const int64_t pitch = row_bytes + kCacheLine;  // rows do not collide
  char* const scratch = Scratch::OfThread().Bytes(job.inner.count * plan.rows * pitch);
  InterleaveJob gathered = job;
  gathered.to = scratch;
  gathered.row_stride = pitch;
  gathered.inner.to = plan.rows * pitch;
  gathered.outer.to = piece;
  plan.functions.deinterleave(gathered);
  for (int64_t i = 0; i < job.inner.count; ++i) {
    for (int64_t r = 0; r < plan.rows; ++r) {
      const int64_t row = i * plan.rows + r;
      StreamCopy(job.to + i * job.inner.to + r * job.row_stride, scratch + row * pitch, row_bytes);
      Prefetch(next + row * row_bytes, row_bytes);
    }
  }
}

}  // namespace

TryResult<InterleavePlan> InterleavePlan::Try(const BoxOffer& offer) {
  Loops loops = offer.box.loops;
  const int64_t bytes = offer.element_bytes;
  const PlanContext& context = offer.context;
  if (InterleaveFunctionsFor(bytes, 2).interleave == nullptr) return Refusal{"interleave: elements of an odd size"};
  std::optional<FewRows> few = TakeFewRows(bytes * 8, &Loop::to, &Loop::from, &loops);
  const bool is_back = !few.has_value();
  if (is_back) few = TakeFewRows(bytes * 8, &Loop::from, &Loop::to, &loops);
  if (!few.has_value()) return Refusal{"interleave: no 2 to 8 rows that are one run on the other side"};
  const auto [row, column] = *few;
  const bool splits = is_back && context.streams();
  const bool is_long = column.extent * bytes >= kLongInterleavedRow;
  if (splits && !is_long && !RowsFillLines(row, column, loops)) {
    return Refusal{"interleave: short rows that share cache lines"};
  }
  InterleavePlan plan = {bytes, row.extent, is_back, (is_back ? row.to : row.from) / 8,
                         InterleaveFunctionsFor(bytes, row.extent)};
  plan.has_long_rows = splits && is_long;
  const int64_t task = context.sizes.task;
  const Axis columns = {1, column.extent, InterleavedChunk(column.extent, task / (plan.rows * bytes))};
  Axis rows = {plan.rows, 1, 1};
  if (columns.chunk_count() == 1 && !plan.has_long_rows) {
    rows = TakeInterleavings(is_back ? &Loop::from : &Loop::to, plan.rows * column.extent * bytes, task, &loops, &plan);
    plan.continues_rows = splits && plan.outer.to == column.to * column.extent;
  }
  return Planned<InterleavePlan>{
      MakeGrid(offer.box, loops, rows, columns,
               {ChunksOf(rows, plan.outer, GridLoop::Over::kRows), ChunksOf(columns, column, GridLoop::Over::kColumns)},
               context.streams()),
      plan};
}

void InterleavePlan::Run(const Task& task) const {
  const Block& block = task.block;
  if (has_long_rows) return RunOfRows(*this, task).Run();
  const auto repeat = [](int64_t count, const Loop& loop) {
    return InterleaveJob::Repeat{count, loop.from / 8, loop.to / 8};
  };
  const InterleaveJob job = {task.from + block.from / 8,
                             task.to + block.to / 8,
                             row_stride,
                             block.columns,
                             repeat(inner.extent, inner),
                             repeat(block.rows / task.grid.rows.whole, outer)};
  if (continues_rows) return RunGathered(*this, job, task.from + task.next.from / 8);
  const bool streams = task.context.streams();
  if (is_back) return streams ? functions.stream_deinterleaved(job) : functions.deinterleave(job);
  return streams ? functions.stream_interleaved(job) : functions.interleave(job);
}

int64_t InterleavePlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const {
  return grid.TaskElements() * element_bytes;
}

BlockRuns InterleavePlan::Runs(const TaskGrid& grid, const PlanContext&) const {
  const int64_t row = grid.columns.extent * element_bytes;
  return is_back ? BlockRuns{row * rows, row} : BlockRuns{row, row * rows};
}

void InterleavePlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(rows, "row"), " x ", base::Count(grid.columns.block(), "column"), " of ",
                  base::Count(element_bytes, "byte"), is_back ? " in one run, " : ", ", grid.rows.block() / rows,
                  " at a time");
}

}  // namespace kashi::relayout
