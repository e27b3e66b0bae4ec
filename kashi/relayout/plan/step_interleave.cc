// Entry point: TryInterleave. Few rows of one side that are one run of the other.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/interleave_kernel.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {
namespace {

constexpr int64_t kInterleaveTask = 32 << 10;  // bytes
constexpr int64_t kLongInterleavedRow = 4096;  // bytes: shorter ones lose much by a cache line at their ends

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

// The loops that go on where an interleaving ends, on this side: those of a task. The others stay.
void TakeInterleavings(int64_t Loop::*side, int64_t unit_bytes, Loops* loops, Step* step) {
  std::stable_sort(loops->begin(), loops->end(),
                   [side](const Loop& a, const Loop& b) { return std::abs(a.*side) > std::abs(b.*side); });
  // The outermost loop is left for boxes that run side by side, unless it only continues the others.
  const auto may_take = [&] {
    return loops->size() > 1 || (loops->size() == 1 && std::abs(loops->back().*side) < 16 * unit_bytes);
  };
  Interleaving& in = step->interleaving;
  if (may_take() && loops->back().extent * unit_bytes <= kInterleaveTask) {
    in.inner = loops->back();
    loops->pop_back();
    unit_bytes *= in.inner.extent;
  }
  step->rows.whole = in.rows * in.inner.extent;
  if (!may_take() || 2 * unit_bytes > kInterleaveTask) return;
  in.outer = loops->back();
  loops->pop_back();
  step->rows.extent = in.outer.extent;
  step->rows.chunk = ChunkOf(in.outer.extent, kInterleaveTask / unit_bytes, 1);
}

// Whether all rows of the target begin and end with a cache line, if the first one begins so.
bool RowsFillLines(const Loop& row, const Loop& column, const Loops& others) {
  const auto is_line = [](int64_t bits) { return bits % (8 * kCacheLine) == 0; };
  return is_line(row.to) && is_line(column.to * column.extent) &&
         std::all_of(others.begin(), others.end(), [&](const Loop& loop) { return is_line(loop.to); });
}

// The loop over chunks of an axis that cuts `loop`.
GridLoop ChunksOf(const Axis& axis, const Loop& loop, GridLoop::Over over) {
  return {axis.chunk_count(), loop.from * axis.chunk, loop.to * axis.chunk, over};
}

// Of columns, in whole lines; the last chunk has a line at least, too.
int64_t InterleavedChunk(int64_t columns, int64_t row_bytes) {
  int64_t chunk = ChunkOf(columns, kInterleaveTask / row_bytes, kCacheLine);
  while (chunk < columns && columns % chunk > 0 && columns % chunk < kCacheLine) chunk += kCacheLine;
  return std::min(chunk, columns);
}

}  // namespace

const char* TryInterleave(Candidate* candidate) {
  Step& step = candidate->step;
  Loops loops = candidate->loops;
  const int64_t bytes = step.element_bytes;
  if (InterleaveFunctionsFor(bytes, 2).interleave == nullptr) return "interleave: elements of an odd size";
  std::optional<FewRows> few = TakeFewRows(bytes * 8, &Loop::to, &Loop::from, &loops);
  const bool is_back = !few.has_value();
  if (is_back) few = TakeFewRows(bytes * 8, &Loop::from, &Loop::to, &loops);
  if (!few.has_value()) return "interleave: no 2 to 8 rows that are one run on the other side";
  const auto [row, column] = *few;
  const bool splits = is_back && step.context->streams;
  const bool is_long = column.extent * bytes >= kLongInterleavedRow;
  if (splits && !is_long && !RowsFillLines(row, column, loops)) return "interleave: short rows that share cache lines";

  step.kernel = Kernel::kInterleave;
  Interleaving& in = step.interleaving;
  in.rows = row.extent;
  in.is_back = is_back;
  in.row_stride = (is_back ? row.to : row.from) / 8;
  in.functions = InterleaveFunctionsFor(bytes, in.rows);
  in.has_long_rows = splits && is_long;
  step.columns = {1, column.extent, InterleavedChunk(column.extent, in.rows * bytes), {}};
  step.rows = {in.rows, 1, 1, {}};
  if (step.columns.chunk_count() == 1 && !in.has_long_rows) {
    TakeInterleavings(is_back ? &Loop::from : &Loop::to, in.rows * column.extent * bytes, &loops, &step);
    in.continues_rows = splits && in.outer.to == column.to * column.extent;
  }
  MakeGrid(
      loops,
      {ChunksOf(step.rows, in.outer, GridLoop::Over::kRows), ChunksOf(step.columns, column, GridLoop::Over::kColumns)},
      &step);
  return nullptr;
}

}  // namespace kashi::internal
