// Entry points: TryBlocks, MakeGroupStep. Transposes, a run of the source by a run of the target: elements of several bytes in
// another order within, long blocks past the caches, groups that are padded on the way.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/group_kernel.h"
#include "kashi/relayout/kernels/line_tiles.h"
#include "kashi/relayout/kernels/streamed_transpose.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {
namespace {

// Sizes of long blocks, in bytes: they have a line of each run of the source.
constexpr int64_t kLongRowRun = 2048;  // of the target
constexpr int64_t kLeastLongRowRun = 512;
constexpr int64_t kLongBlockRows = 512;       // at most, or less than twice that: each is on a page of its own
constexpr int64_t kLeastLongRowStride = 512;  // rows that are closer are better read whole

// Two loops that both sides have within so few bytes, in another order, make an element of those bytes:
//
//   bf16, rows and columns in pairs on both sides:   r0c0 r1c0 r0c1 r1c1  ->  r0c0 r0c1 r1c0 r1c1
void TakeShuffledElement(Candidate* candidate) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  const int64_t bits = step.element_bytes * 8;
  const size_t row = FindLoop(loops, &Loop::to, bits), column = FindLoop(loops, &Loop::from, bits);
  if (row == loops.size() || column == loops.size()) return;
  const Loop r = loops[row], c = loops[column];
  const int64_t bytes = step.element_bytes * r.extent * c.extent;
  if (r.from != bits * c.extent || c.to != bits * r.extent || bytes > 16 || !IsPowerOf2(bytes)) return;
  for (int64_t i = 0; i < bytes; ++i) {
    const int64_t element = i / step.element_bytes;
    const int64_t source = element % r.extent * c.extent + element / r.extent;
    step.shuffle.push_back(static_cast<uint8_t>(source * step.element_bytes + i % step.element_bytes));
  }
  loops.erase(loops.begin() + std::max(row, column));
  loops.erase(loops.begin() + std::min(row, column));
  step.element_bytes = bytes;
}

// Whether all runs of the target begin with a cache line, if the first one does.
bool RunsFillLines(const Step& step) {
  const auto is_line = [](int64_t bytes) { return bytes % kCacheLine == 0; };
  return std::all_of(step.columns.offsets.begin(), step.columns.offsets.end(), is_line) &&
         std::all_of(step.grid.begin(), step.grid.end(), [&](const GridLoop& loop) { return is_line(loop.to / 8); });
}

// What kernels want to know of the axes.
void DescribeBlocks(Step* step) {
  step->runs_fill_lines = RunsFillLines(*step);
  step->rows.collides = Collides(step->rows.offsets, kFirstCacheWays);
  step->columns.collides = Collides(step->columns.offsets, kFirstCacheWays / 2);  // the source's lines need room, too
}

// What rows may take of the second cache, a line each: so many ways of a set, and so much of them may find no place there.
struct CacheShare {
  int64_t ways;
  double outside;
};
constexpr CacheShare kHalf = {4, 0};  // the next block's lines are on their way
// Where no number of rows suits the stride: lines that come twice cost less than short runs.
constexpr CacheShare kAll = {8, 0.5};

bool FitsSecondCache(const std::vector<int64_t>& offsets, const CacheShare& share) {
  constexpr size_t kSets = 1024;
  std::array<uint16_t, kSets> lines = {};
  int64_t outside = 0;
  for (int64_t offset : offsets) outside += ++lines[(offset / kCacheLine) & (kSets - 1)] > share.ways;
  return outside <= share.outside * offsets.size();
}

bool IsGoodLongBlock(const Step& step) {
  const int64_t bytes = step.element_bytes;
  return step.rows.block() * bytes >= kLeastLongRowRun && step.columns.block() * bytes >= kCacheLine &&
         (step.dense_columns == 1 || step.runs_fill_lines) && std::abs(step.rows.stride) >= kLeastLongRowStride &&
         !step.columns.collides;
}

bool TakeLongBlocks(const CacheShare& share, Candidate* candidate) {
  const int64_t bytes = candidate->step.element_bytes, line = std::max<int64_t>(1, kCacheLine / bytes);
  for (int64_t run = kLongRowRun; run >= kLeastLongRowRun; run /= 2) {
    Candidate attempt = *candidate;
    TakeAxes(&attempt, {std::min(kLongBlockRows, run / bytes), line}, bytes * 8, bytes * 8, 8, line, line);
    attempt.step.dense_columns = DenseColumns(attempt.step.rows, attempt.step.columns, bytes);
    DescribeBlocks(&attempt.step);
    if (!IsGoodLongBlock(attempt.step)) return false;  // a shorter one would not be, either
    if (attempt.step.rows.collides || !FitsSecondCache(attempt.step.rows.offsets, share)) continue;
    *candidate = std::move(attempt);
    return true;
  }
  return false;
}

// Blocks for StreamedTransposeFunction, where rows are far apart and runs of the target long: a line wide, so that what rows that
// begin within lines share with the next block is still there. False where others do better.
bool TakeLongBlocks(Candidate* candidate) {
  const StreamedTransposeFunction function = StreamedTransposeFunctionFor(candidate->step.element_bytes);
  const StepContext& context = *candidate->step.context;
  if (!context.streams || context.has_groups() || !candidate->step.shuffle.empty() || function == nullptr) return false;
  if (!TakeLongBlocks(kHalf, candidate)) {
    Candidate attempt = *candidate;
    if (!TakeLongBlocks(kAll, &attempt) || attempt.step.dense_columns > 1) return false;
    *candidate = std::move(attempt);
  }
  candidate->step.streamed_transpose = function;
  return true;
}

// From padded strides to those in memory, on the sides that have groups. False if blocks do not begin with groups.
bool PutInMemory(Step* step) {
  bool is_whole = true;
  const auto put = [&](const Groups& groups, int64_t* offset, int64_t unit) {
    if (!groups.any()) return;
    is_whole = is_whole && groups.IsWhole(*offset / unit);
    *offset = groups.InMemory(*offset / unit) * unit;
  };
  const Groups &from = step->context->from_groups, &to = step->context->to_groups;
  put(from, &step->from_offset, 8);
  put(to, &step->to_offset, 8);
  for (GridLoop& loop : step->grid) {
    put(from, &loop.from, 8);
    put(to, &loop.to, 8);
  }
  for (int64_t& offset : step->rows.offsets) put(from, &offset, 1);
  for (int64_t& offset : step->columns.offsets) put(to, &offset, 1);
  put(from, &step->rows.stride, 1);
  put(to, &step->columns.stride, 1);
  return is_whole;
}

// Within the caches: for elements that are shuffled, which else take scratch memory and three rounds; and where lines of a block
// drive one another out of the first cache, but those of a tile do not.
bool WantsLineTiles(const Step& step) {
  const int64_t line = std::max<int64_t>(1, kCacheLine / step.element_bytes);
  if (step.context->streams || step.context->has_groups()) return false;
  if (std::min(step.rows.block(), step.columns.block()) < line) return false;
  if (!step.shuffle.empty()) return true;
  constexpr int64_t kHalfOfWays = kFirstCacheWays / 2;  // each side's
  return step.columns.collides && Collides(step.rows.offsets, kHalfOfWays) &&
         !Collides(step.rows.offsets, kHalfOfWays, line) && !Collides(step.columns.offsets, kHalfOfWays, line);
}

}  // namespace

const char* TryBlocks(Candidate* candidate) {
  TakeShuffledElement(candidate);
  Step& step = candidate->step;
  const int64_t bits = step.element_bytes * 8;
  if (step.shuffle.empty() && FindLoop(candidate->loops, &Loop::to, bits) == candidate->loops.size() &&
      FindLoop(candidate->loops, &Loop::from, bits) == candidate->loops.size()) {
    return "blocks: neither side has neighbours in memory";
  }
  step.kernel = Kernel::kBlocks;
  step.transpose = TransposeFunctionFor(step.element_bytes);
  const int64_t line = std::max<int64_t>(1, kCacheLine / step.element_bytes);
  if (TakeLongBlocks(candidate)) return nullptr;
  TakeAxes(candidate, WantedBlock(candidate->loops, bits, bits, *step.context), bits, bits, 8, line, line);
  step.dense_columns = DenseColumns(step.rows, step.columns, step.element_bytes);
  if (!PutInMemory(&step)) return "blocks: they begin within groups";
  DescribeBlocks(&step);
  const LineTilesFunction line_tiles = LineTilesFunctionFor(step.element_bytes);
  if (line_tiles != nullptr && WantsLineTiles(step)) step.line_tiles = line_tiles;
  return nullptr;
}

std::optional<Step> MakeGroupStep(const Box& box, const StepContext& context) {
  Box wide = box;
  const int64_t bits = WidenElement(&wide, context.to.slot_bits);
  Candidate candidate{wide.loops, {}};
  Step& step = candidate.step;
  step.from_offset = box.from_offset;
  step.to_offset = box.to_offset;
  step.context = &context;
  step.element_bytes = bits / 8;
  if (TransposeFunctionFor(step.element_bytes) == nullptr || TryBlocks(&candidate) != nullptr) {
    return std::nullopt;
  }
  return std::move(candidate.step);
}

}  // namespace kashi::internal
