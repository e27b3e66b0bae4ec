// Entry points: TryConvert, TryConvertBlocks. Elements that change their form, or are no whole bytes: where tasks may share
// bytes of the target, one thread runs them.
#include <algorithm>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "kashi/base/math.h"
#include "kashi/relayout/kernels/nibble_words.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {
namespace {

constexpr int64_t kConvertChunk = 4096;  // elements

// Bits of the target from the first that a task writes to the last.
int64_t SpanOfTask(const Step& step, int64_t slot_bits) {
  if (step.columns.offsets.empty()) return step.columns.block() * slot_bits;
  return step.rows.block() * slot_bits + *std::max_element(step.columns.offsets.begin(), step.columns.offsets.end());
}

// What a loop adds to a span. The last chunk of an axis may be shorter than the others.
int64_t ReachOf(const Step& step, const GridLoop& loop) {
  const int64_t reach = (loop.count - 1) * loop.to;
  if (loop.over == GridLoop::Over::kOuter) return reach;
  const Axis& axis = loop.over == GridLoop::Over::kRows ? step.rows : step.columns;
  return reach - (loop.count * axis.chunk - axis.extent) * (loop.to / axis.chunk);
}

// Whether tasks, of this step or of another one of the array, may write bits of one byte. They do not if all runs begin with a
// byte, nor if all begin with one but those within a block, and blocks are far enough apart.
bool SharesBytes(const Step& step, int64_t slot_bits) {
  if (IsWhole(slot_bits)) return false;
  bool whole = IsWhole(step.to_offset), apart = true;
  const int64_t span = SpanOfTask(step, slot_bits);
  for (const GridLoop& loop : step.grid) {
    whole = whole && IsWhole(loop.to);
    apart = apart && loop.to >= RoundUpTo<int64_t>(span, 8);
  }
  for (int64_t offset : step.columns.offsets) {
    if (!whole || (!apart && !IsWhole(offset))) return true;
  }
  return !whole;
}

// Whether spans at all places of the grid's first `count` loops share no byte.
bool SpansAreApart(const Step& step, size_t count, int64_t span, int64_t slot_bits) {
  absl::InlinedVector<GridLoop, 6> loops(step.grid.begin(), step.grid.begin() + count);
  std::sort(loops.begin(), loops.end(), [](const GridLoop& a, const GridLoop& b) { return a.to < b.to; });
  const bool whole = IsWhole(step.to_offset) &&
                     std::all_of(loops.begin(), loops.end(), [](const GridLoop& loop) { return IsWhole(loop.to); });
  if (!whole) span += 8 - slot_bits;  // the next one may begin with the byte behind that of the last slot
  for (const GridLoop& loop : loops) {
    if (loop.to < span) return false;
    span += ReachOf(step, loop);
  }
  return true;
}

// So many tasks, from a multiple of that on, share no byte with the others: those of the innermost loops, or of all.
//
//   rows of odd length, cut in chunks       | row 0 chunk 0 | row 0 chunk 1 | row 1 chunk 0 | row 1 chunk 1 |
//   eight rows begin with a byte            together: all chunks of eight rows
int64_t TasksTogether(const Step& step, int64_t slot_bits) {
  if (!step.shares_bytes) return 1;
  int64_t together = 1, span = SpanOfTask(step, slot_bits);
  size_t outer = step.grid.size();
  for (; !SpansAreApart(step, outer, span, slot_bits); --outer) {
    const GridLoop& loop = step.grid[outer - 1];
    together *= loop.count;
    span += ReachOf(step, loop);
  }
  return together;
}

// Words that begin with a byte: of the target, if a block has all of its rows, or of the source, if it has all of its
// columns. If there are fewer than 8 of those the words follow one another.
Words WordsOf(const Step& step, const StepContext& context) {
  constexpr int64_t kLong = 32;  // elements of the runs on the other side
  if (!context.moves_nibbles && !context.resizes_nibbles) return Words::kNone;
  const auto has_words = [](const Axis& few, const Axis& many) {
    return few.chunk_count() == 1 && many.block() >= kLong &&
           (few.block() == kNibbleRows || (few.block() < kNibbleRows && many.stride == kNibbleWordBits));
  };
  bool from_is_whole = IsWhole(step.from_offset), to_is_whole = IsWhole(step.to_offset);
  for (const GridLoop& loop : step.grid) {
    from_is_whole = from_is_whole && IsWhole(loop.from);
    to_is_whole = to_is_whole && IsWhole(loop.to);
  }
  if (context.to.slot_bits == 4 && has_words(step.rows, step.columns) && step.runs_fill_bytes && to_is_whole) {
    return Words::kOfTarget;
  }
  if (context.from.slot_bits == 4 && has_words(step.columns, step.rows) && !step.row_bytes.empty() && from_is_whole) {
    return Words::kOfSource;
  }
  return Words::kNone;
}

}  // namespace

const char* TryConvert(Candidate* candidate, const StepContext& context) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  size_t unit = 0;
  while (unit < loops.size() && (loops[unit].from != context.from.slot_bits || loops[unit].to != context.to.slot_bits))
    ++unit;
  if (unit == loops.size()) return "convert: no run that both sides have";
  step.kernel = Kernel::kConvert;
  const int64_t extent = loops[unit].extent;
  loops.erase(loops.begin() + unit);
  step.columns = {1, extent, std::min(extent, kConvertChunk), {}};
  MakeGrid(loops,
           {{step.columns.chunk_count(), step.columns.chunk * context.from.slot_bits,
             step.columns.chunk * context.to.slot_bits, GridLoop::Over::kColumns}},
           &step);
  step.shares_bytes = SharesBytes(step, context.to.slot_bits);
  step.tasks_together = TasksTogether(step, context.to.slot_bits);
  return nullptr;
}

const char* TryConvertBlocks(Candidate* candidate, const StepContext& context) {
  Step& step = candidate->step;
  if (FindLoop(candidate->loops, &Loop::to, context.to.slot_bits) == candidate->loops.size() &&
      FindLoop(candidate->loops, &Loop::from, context.from.slot_bits) == candidate->loops.size()) {
    return "convert blocks: neither side has neighbours in memory";
  }
  step.kernel = Kernel::kConvertBlocks;
  step.element_bytes = context.scratch.slot_bits / 8;
  step.transpose = TransposeFunctionFor(step.element_bytes);
  TakeAxes(candidate, WantedBlock(candidate->loops, context.from.slot_bits, context.to.slot_bits, context),
           context.from.slot_bits, context.to.slot_bits, 1, kCacheLine, kCacheLine);
  step.dense_columns = DenseColumns(step.rows, step.columns, context.to.slot_bits);
  step.runs_fill_bytes = std::all_of(step.columns.offsets.begin(), step.columns.offsets.end(), IsWhole);
  if (std::all_of(step.rows.offsets.begin(), step.rows.offsets.end(), IsWhole)) {
    for (int64_t offset : step.rows.offsets) step.row_bytes.push_back(offset / 8);
    step.rows.collides = Collides(step.row_bytes, kFirstCacheWays);
  }
  step.words = WordsOf(step, context);
  step.shares_bytes = SharesBytes(step, context.to.slot_bits);
  step.tasks_together = TasksTogether(step, context.to.slot_bits);
  return nullptr;
}

}  // namespace kashi::internal
