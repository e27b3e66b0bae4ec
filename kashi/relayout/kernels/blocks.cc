// The plan of BlocksPlan.
#include "kashi/relayout/kernels/blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/math.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kLeastLongRowRun = 512;     // bytes of the target
constexpr int64_t kLongBlockRows = 512;       // at most, or less than twice that: each is on a page of its own
constexpr int64_t kLeastLongRowStride = 512;  // bytes: rows that are closer are better read whole

using PlannedBlocks = Planned<BlocksPlan>;

// The loops of the box, and the element that moves as one.
struct Elements {
  Box box;
  int64_t bytes;
  absl::InlinedVector<uint8_t, 16> shuffle;
};

// Two loops that both sides have within a few bytes, in another order, make an element of those bytes:
//
//   bf16, rows and columns in pairs on both sides:   r0c0 r1c0 r0c1 r1c1  ->  r0c0 r0c1 r1c0 r1c1
Elements ElementsOf(const BoxOffer& offer) {
  Elements elements = {offer.box, offer.element_bytes, {}};
  Loops& loops = elements.box.loops;
  const int64_t bits = offer.element_bytes * 8;
  const size_t row = FindLoop(loops, &Loop::to, bits), column = FindLoop(loops, &Loop::from, bits);
  if (row == loops.size() || column == loops.size()) return elements;
  const Loop r = loops[row], c = loops[column];
  const int64_t bytes = offer.element_bytes * r.extent * c.extent;
  if (r.from != bits * c.extent || c.to != bits * r.extent || bytes > 16 || !IsPowerOf2(bytes)) return elements;
  for (int64_t i = 0; i < bytes; ++i) {
    const int64_t element = i / offer.element_bytes;
    const int64_t source = element % r.extent * c.extent + element / r.extent;
    elements.shuffle.push_back(static_cast<uint8_t>(source * offer.element_bytes + i % offer.element_bytes));
  }
  loops.erase(loops.begin() + std::max(row, column));
  loops.erase(loops.begin() + std::min(row, column));
  elements.bytes = bytes;
  return elements;
}

// Whether all runs of the target begin with a cache line, if the first one does.
bool RunsFillLines(const PlannedBlocks& blocks) {
  const auto is_line = [](int64_t bytes) { return bytes % kCacheLine == 0; };
  const std::vector<int64_t>& columns = blocks.plan.columns.at;
  return std::all_of(columns.begin(), columns.end(), is_line) &&
         std::all_of(blocks.grid.loops.begin(), blocks.grid.loops.end(),
                     [&](const GridLoop& loop) { return is_line(loop.to / 8); });
}

// From padded strides to those in memory, on the sides that have groups. False if blocks do not begin with groups.
bool PutInMemory(const PlanContext& context, PlannedBlocks* blocks) {
  bool is_whole = true;
  const auto put = [&](const Groups& groups, int64_t* offset, int64_t unit) {
    if (!groups.any()) return;
    is_whole = is_whole && groups.IsWhole(*offset / unit);
    *offset = groups.InMemory(*offset / unit) * unit;
  };
  const Groups &from = context.from_groups, &to = context.to_groups;
  put(from, &blocks->grid.from_offset, 8);
  put(to, &blocks->grid.to_offset, 8);
  for (GridLoop& loop : blocks->grid.loops) {
    put(from, &loop.from, 8);
    put(to, &loop.to, 8);
  }
  for (int64_t& offset : blocks->plan.rows.at) put(from, &offset, 1);
  for (int64_t& offset : blocks->plan.columns.at) put(to, &offset, 1);
  put(from, &blocks->plan.rows.stride, 1);
  put(to, &blocks->plan.columns.stride, 1);
  return is_whole;
}

// Sets the fields that follow from the offsets in memory.
void DescribeBlocks(const CacheModel::Level& l1, PlannedBlocks* blocks) {
  BlocksPlan& plan = blocks->plan;
  plan.runs_fill_lines = RunsFillLines(*blocks);
  plan.rows.collides = Collides(plan.rows.at, l1, l1.ways);
  plan.columns.collides = Collides(plan.columns.at, l1, l1.ways / 2);  // the source's lines need room, too
}

// The number of elements of the next block whose offsets a block must know to complete its last cache lines.
int64_t OverhangOf(const PlanContext& context, int64_t element_bytes) {
  if (!context.streams()) return 0;
  const Groups& groups = context.to_groups;
  const int64_t line = groups.any() ? CeilOfRatio(kCacheLine, groups.packed) * groups.padded : kCacheLine;
  return CeilOfRatio(line, element_bytes);
}

PlannedBlocks CutElements(const PlanContext& context, const Elements& elements, const BlockSize& size) {
  const int64_t bits = elements.bytes * 8, line = ElementsOfLine(elements.bytes);
  BlockWish wish = {size, bits, bits, /*unit=*/8, line, line};
  wish.overhang = OverhangOf(context, elements.bytes);
  BlockCut cut = CutIntoBlocks(elements.box, wish, context.streams());
  BlocksPlan plan = {elements.bytes, TransposeFunctionFor(elements.bytes), elements.shuffle};
  plan.dense_columns = DenseColumns(cut, elements.bytes);
  plan.rows = std::move(cut.rows);
  plan.columns = std::move(cut.columns);
  return {std::move(cut.grid), std::move(plan)};
}

// ---- Long blocks

// The share of L2 for rows, one line each: a number of ways of a set, and the fraction of lines that may lie outside.
struct CacheShare {
  int64_t ways;
  double outside;
};

bool FitsL2(const std::vector<int64_t>& offsets, const CacheModel::Level& l2, const CacheShare& share) {
  const int64_t sets = l2.period() / kCacheLine;
  std::vector<uint16_t> lines(sets);
  int64_t outside = 0;
  for (int64_t offset : offsets) outside += ++lines[(offset / kCacheLine) & (sets - 1)] > share.ways;
  return outside <= share.outside * offsets.size();
}

bool IsGoodLongBlock(const PlannedBlocks& blocks) {
  const BlocksPlan& plan = blocks.plan;
  return blocks.grid.rows.block() * plan.element_bytes >= kLeastLongRowRun &&
         blocks.grid.columns.block() * plan.element_bytes >= kCacheLine &&
         (plan.dense_columns == 1 || plan.runs_fill_lines) && std::abs(plan.rows.stride) >= kLeastLongRowStride &&
         !plan.columns.collides;
}

std::optional<PlannedBlocks> LongBlocksWithin(const CacheShare& share, const PlanContext& context,
                                              const Elements& elements) {
  const int64_t bytes = elements.bytes;
  for (int64_t run = context.sizes.long_row_run; run >= kLeastLongRowRun; run /= 2) {
    PlannedBlocks blocks =
        CutElements(context, elements, {std::min(kLongBlockRows, run / bytes), ElementsOfLine(bytes)});
    DescribeBlocks(context.caches.l1, &blocks);
    if (!IsGoodLongBlock(blocks)) return std::nullopt;  // a shorter one would not be, either
    if (!blocks.plan.rows.collides && FitsL2(blocks.plan.rows.at, context.caches.l2, share)) return blocks;
  }
  return std::nullopt;
}

// Blocks for StreamedTransposeFunction, if rows are far apart and runs of the target long: one line wide, so that lines
// that rows share with the next block are still in the cache. Nothing if other functions do better.
std::optional<PlannedBlocks> LongBlocks(const PlanContext& context, const Elements& elements) {
  const StreamedTransposeFunction function = StreamedTransposeFunctionFor(elements.bytes);
  if (!context.streams() || context.has_groups() || !elements.shuffle.empty() || function == nullptr) {
    return std::nullopt;
  }
  const int64_t ways = context.caches.l2.ways;
  // The next block's lines are on their way.
  std::optional<PlannedBlocks> blocks = LongBlocksWithin({std::max<int64_t>(1, ways / 2), 0}, context, elements);
  if (!blocks.has_value()) {
    // If no number of rows suits the stride: reading lines twice costs less than short runs.
    blocks = LongBlocksWithin({ways, 0.5}, context, elements);
    if (!blocks.has_value() || blocks->plan.dense_columns > 1) return std::nullopt;
  }
  blocks->plan.streamed_transpose = function;
  return blocks;
}

// ---- Others

// True within the caches: for elements that are shuffled, which otherwise take scratch memory and three rounds; and if
// lines of a block evict one another from L1, but those of a tile do not.
bool WantsLineTiles(const PlanContext& context, const PlannedBlocks& blocks) {
  const BlocksPlan& plan = blocks.plan;
  const int64_t line = ElementsOfLine(plan.element_bytes);
  if (context.streams() || context.has_groups()) return false;
  if (std::min(blocks.grid.rows.block(), blocks.grid.columns.block()) < line) return false;
  if (!plan.shuffle.empty()) return true;
  const CacheModel::Level& l1 = context.caches.l1;
  const int64_t half = l1.ways / 2;  // each side's
  return plan.columns.collides && Collides(plan.rows.at, l1, half) && !Collides(plan.rows.at, l1, half, line) &&
         !Collides(plan.columns.at, l1, half, line);
}

}  // namespace

TryResult<BlocksPlan> BlocksPlan::Try(const BoxOffer& offer) {
  const PlanContext& context = offer.context;
  const Elements elements = ElementsOf(offer);
  const Loops& loops = elements.box.loops;
  const int64_t bits = elements.bytes * 8;
  if (elements.shuffle.empty() && FindLoop(loops, &Loop::to, bits) == loops.size() &&
      FindLoop(loops, &Loop::from, bits) == loops.size()) {
    return Refusal{"blocks: neither side has neighbours in memory"};
  }
  if (offer.kind == kGroups && TransposeFunctionFor(offer.element_bytes) == nullptr) {
    return Refusal{"blocks: elements of groups have an odd size"};
  }
  std::optional<PlannedBlocks> long_blocks = LongBlocks(context, elements);
  if (long_blocks.has_value()) return *std::move(long_blocks);
  PlannedBlocks blocks = CutElements(context, elements, WantedBlock(loops, bits, bits, context));
  if (!PutInMemory(context, &blocks)) return Refusal{"blocks: they begin within groups"};
  DescribeBlocks(context.caches.l1, &blocks);
  if (WantsLineTiles(context, blocks)) blocks.plan.line_tiles = LineTilesFunctionFor(elements.bytes);
  return blocks;
}

void BlocksPlan::Transpose(const TransposeBlock& block) const {
  if (transpose != nullptr) return transpose(block);
  const int64_t bytes = element_bytes;
  for (int64_t c = 0; c < block.columns; ++c) {
    for (int64_t r = 0; r < block.rows; ++r) {
      std::memcpy(block.to + block.to_offsets[c] + r * bytes, block.from + block.from_offsets[r] + c * bytes, bytes);
    }
  }
}

int64_t BlocksPlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const {
  return grid.TaskElements() * element_bytes;
}

BlockRuns BlocksPlan::Runs(const TaskGrid& grid, const PlanContext&) const {
  return {grid.columns.block() * element_bytes, grid.rows.block() * element_bytes};
}

void BlocksPlan::Print(const TaskGrid& grid, const PlanContext& context, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(grid.rows.block(), "row"), " x ",
                  base::Count(grid.columns.block(), "column"), " of ", base::Count(element_bytes, "byte"));
  if (!shuffle.empty()) absl::StrAppend(text, ", shuffled");
  if (dense_columns > 1) absl::StrAppend(text, ", ", base::Count(dense_columns, "column"), " in one run");
  if (streamed_transpose != nullptr) absl::StrAppend(text, ", line by line");
  if (line_tiles != nullptr) absl::StrAppend(text, ", in tiles of whole lines");
  for (const Groups& groups : {context.from_groups, context.to_groups}) {
    if (groups.any()) absl::StrAppend(text, ", groups of ", groups.packed, " as ", base::Count(groups.padded, "byte"));
  }
}

}  // namespace kashi::relayout
