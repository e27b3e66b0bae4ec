// What the kernels of step_internal.h share: loops of a box become axes, cut into blocks, and a grid over those.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {
namespace {

// Sizes of blocks, in bytes. A block's rows become runs of the target, its columns are runs of the source. Beyond the caches
// memory wants long runs on both sides: a run of the target that begins or ends within a cache line is shared by two blocks,
// and a run of the source of four lines costs little more than one of one. Within the caches short runs of both do.
constexpr int64_t kStreamedRowRun = 512;     // of the target; twice that, if its lines are shared
constexpr int64_t kStreamedScratch = 16384;  // a line of columns, each so long: stays in the first cache; likewise
constexpr int64_t kStreamedColumnRun = 256;  // of the source
constexpr int64_t kStreamedColumns = 64;     // at least
constexpr int64_t kCachedRowRun = 256;
constexpr int64_t kCachedColumnRun = 256;
// The same for elements of 1 to 4 bytes and runs of the target that are several blocks long. Their tiles are 16 bytes wide, so that
// a line of the source is read four times; those of larger blocks do not stay in the first cache until then.
constexpr int64_t kNarrowRowRun = 192;  // for elements of a byte
constexpr int64_t kNarrowColumnRun = 128;
constexpr int64_t kNarrowBits = 32;
constexpr int64_t kSeveralBlocks = 3;
constexpr int64_t kGroupColumnRun = 512;  // in the strides of padded groups
constexpr int64_t kSmallBlock = 4096;     // narrow blocks are made longer until they have so much
constexpr int64_t kConvertBlock = 256;    // elements of either axis: all of a block lies in scratch memory, twice

bool AllWholeBytes(const Box& box, size_t skipped) {
  bool whole = IsWhole(box.from_offset) && IsWhole(box.to_offset);
  for (size_t i = 0; i < box.loops.size(); ++i) {
    if (i != skipped) whole = whole && IsWhole(box.loops[i].from) && IsWhole(box.loops[i].to);
  }
  return whole;
}

// Moves the loops that continue `stride` on one side, beginning with `first`, from the box to a chain, until they have `wanted`
// elements. `reserved` stays.
Loops TakeChain(Loops* loops, int64_t Loop::*side, int64_t stride, int64_t wanted, const Loop* reserved) {
  Loops chain;
  int64_t elements = 1;
  while (elements < wanted) {
    const size_t i = FindLoop(*loops, side, stride);
    if (i == loops->size()) break;
    const Loop loop = (*loops)[i];
    if (reserved != nullptr && loop.from == reserved->from && loop.to == reserved->to) break;
    chain.push_back(loop);
    elements *= loop.extent;
    stride *= loop.extent;
    loops->erase(loops->begin() + i);
  }
  return chain;
}

// Stretches are loops as a whole, so that all are like the first.
void FindStretch(Axis* axis) {
  const std::vector<int64_t>& offsets = axis->offsets;
  if (offsets.size() < 2) return;
  axis->stride = offsets[1];
  while (axis->stretch < offsets.size() && offsets[axis->stretch] == axis->stretch * axis->stride) ++axis->stretch;
}

// Cuts the chain into blocks of about `wanted` elements, a multiple of `multiple` unless the chain has fewer. Offsets are in
// units of `unit` bits.
Axis MakeAxis(const Loops& chain, int64_t wanted, int64_t multiple, int64_t Loop::*other_side, int64_t unit) {
  Axis axis;
  size_t whole_loops = 0;
  while (whole_loops < chain.size() && axis.whole * chain[whole_loops].extent <= wanted) {
    axis.whole *= chain[whole_loops++].extent;
  }
  axis.offsets.push_back(0);
  for (size_t l = 0; l <= whole_loops && l < chain.size(); ++l) {
    int64_t count = chain[l].extent;
    if (l == whole_loops) {
      axis.extent = count;
      axis.chunk = count = ChunkOf(count, std::max<int64_t>(1, (wanted + axis.whole / 2) / axis.whole),
                                   multiple / std::gcd(axis.whole, multiple));
    }
    const size_t so_far = axis.offsets.size();
    axis.offsets.reserve(so_far * count);
    for (int64_t i = 1; i < count; ++i) {
      for (size_t o = 0; o < so_far; ++o) axis.offsets.push_back(axis.offsets[o] + i * (chain[l].*other_side / unit));
    }
  }
  FindStretch(&axis);
  return axis;
}

// The loop of the chain that an axis cuts.
size_t CutLoop(const Axis& axis, const Loops& chain) {
  int64_t whole = 1;
  size_t cut = 0;
  while (whole < axis.whole) whole *= chain[cut++].extent;
  return cut;
}

// Offsets of up to `count` elements of the next chunk.
void AddOverhang(const Loops& chain, int64_t count, int64_t Loop::*other_side, int64_t unit, Axis* axis) {
  if (axis->chunk_count() == 1) return;
  const int64_t stride = chain[CutLoop(*axis, chain)].*other_side / unit;
  const int64_t more = std::min(axis->extent - axis->chunk, CeilOfRatio(count, axis->whole));
  for (int64_t i = axis->chunk; i < axis->chunk + more; ++i) {
    for (int64_t o = 0; o < axis->whole; ++o) axis->offsets.push_back(axis->offsets[o] + i * stride);
  }
  axis->overhang = more * axis->whole;
}

// The loop over an axis' chunks, with strides of whole chunks.
GridLoop ChunkLoop(const Axis& axis, const Loops& chain, GridLoop::Over over) {
  if (axis.chunk_count() == 1) return {1, 0, 0, over};
  const Loop& cut = chain[CutLoop(axis, chain)];
  return {axis.chunk_count(), cut.from * axis.chunk, cut.to * axis.chunk, over};
}

int64_t ElementsOf(const Loops& chain) {
  int64_t elements = 1;
  for (const Loop& loop : chain) elements *= loop.extent;
  return elements;
}

// The loops that a chain does not need for `wanted` elements: an axis cuts no more than one.
void GiveBack(int64_t wanted, Loops* chain, Loops* loops) {
  while (chain->size() > 1 && ElementsOf(*chain) / chain->back().extent >= wanted) {
    loops->push_back(chain->back());
    chain->pop_back();
  }
}

}  // namespace

size_t FindLoop(const Loops& loops, int64_t Loop::*side, int64_t stride) {
  size_t i = 0;
  while (i < loops.size() && loops[i].*side != stride) ++i;
  return i;
}

size_t Innermost(const Loops& loops, int64_t Loop::*side) {
  return std::min_element(loops.begin(), loops.end(),
                          [side](const Loop& a, const Loop& b) { return std::abs(a.*side) < std::abs(b.*side); }) -
         loops.begin();
}

int64_t WidenElement(Box* box, int64_t slot_bits) {
  size_t unit = box->loops.size();
  for (size_t i = 0; i < box->loops.size(); ++i) {
    if (box->loops[i].from == slot_bits && box->loops[i].to == slot_bits) unit = i;
  }
  if (!AllWholeBytes(*box, unit)) return 0;
  if (unit == box->loops.size()) return IsWhole(slot_bits) ? slot_bits : 0;
  const int64_t bits = slot_bits * box->loops[unit].extent;
  if (!IsWhole(bits)) return 0;
  box->loops.erase(box->loops.begin() + unit);
  return bits;
}

int64_t ChunkOf(int64_t extent, int64_t wanted, int64_t multiple) {
  if (multiple == wanted) return std::min(extent, wanted);
  const int64_t chunks = std::max<int64_t>(1, extent / wanted);
  const int64_t chunk = CeilOfRatio(extent, chunks);
  const int64_t rounded = RoundUpTo(chunk, multiple);
  return std::min(extent, rounded <= 2 * wanted ? rounded : chunk);
}

bool Collides(const std::vector<int64_t>& offsets, int64_t ways, int64_t window) {
  for (int64_t i = 0, count = offsets.size(); i < count; i += window) {
    if (LinesCollide(&offsets[i], std::min(count - i, window), ways)) return true;
  }
  return false;
}

void MakeGrid(const Loops& loops, std::initializer_list<GridLoop> chunks, Step* step) {
  for (const Loop& loop : loops) step->grid.push_back({loop.extent, loop.from, loop.to});
  for (const GridLoop& chunk : chunks) {
    if (chunk.count > 1) step->grid.push_back(chunk);
  }
  const auto side = step->context->streams ? &GridLoop::from : &GridLoop::to;
  std::stable_sort(step->grid.begin(), step->grid.end(),
                   [side](const GridLoop& a, const GridLoop& b) { return std::abs(a.*side) > std::abs(b.*side); });
}

int64_t DenseColumns(const Axis& rows, const Axis& columns, int64_t element) {
  if (rows.chunk_count() > 1) return 1;
  int64_t dense = 1;
  const int64_t row = rows.block() * element;
  while (dense < columns.block() && columns.offsets[dense] == dense * row) ++dense;
  return dense;  // loops as a whole, so that later stretches are like the first
}

GridLoop TakeTaskRows(int64_t bytes, Candidate* candidate) {
  Loops& loops = candidate->loops;
  Step& step = candidate->step;
  if (loops.empty()) return {1, 0, 0};
  const size_t inner = Innermost(loops, &Loop::from);
  const Loop loop = loops[inner];
  loops.erase(loops.begin() + inner);
  step.rows = {1, loop.extent, std::min(loop.extent, std::max<int64_t>(1, kRowChunk / bytes)), {}};
  step.row_stride = loop;
  return {step.rows.chunk_count(), loop.from * step.rows.chunk, loop.to * step.rows.chunk, GridLoop::Over::kRows};
}

BlockSize WantedBlock(const Loops& loops, int64_t element_bits_from, int64_t element_bits_to,
                      const StepContext& context) {
  const bool streams = context.streams;
  const size_t row_loop = FindLoop(loops, &Loop::to, element_bits_to);
  const size_t column_loop = FindLoop(loops, &Loop::from, element_bits_from);
  const bool shares_lines = column_loop < loops.size() && loops[column_loop].to % (8 * kCacheLine) != 0;
  const int64_t streamed_run =
      (shares_lines ? 2 : 1) * std::min(kStreamedRowRun, kStreamedScratch * element_bits_to / 8 / kCacheLine);
  const int64_t row_bits = 8 * (streams ? streamed_run : kCachedRowRun);
  const int64_t column_run = streams ? kStreamedColumnRun : kCachedColumnRun;
  const int64_t column_bits = 8 * (context.has_groups() ? kGroupColumnRun : column_run);
  BlockSize size = {std::max<int64_t>(1, row_bits / element_bits_to),
                    std::max<int64_t>(1, column_bits / element_bits_from)};
  if (streams) size.columns = std::max(size.columns, kStreamedColumns);
  const int64_t first_rows = row_loop < loops.size() ? loops[row_loop].extent : 1;
  const int64_t first_columns = column_loop < loops.size() ? loops[column_loop].extent : 1;
  const int64_t small = kSmallBlock * 8 / std::max(element_bits_to, element_bits_from);
  const bool is_narrow = element_bits_from == element_bits_to && element_bits_to >= 8 && element_bits_to <= kNarrowBits;
  if (!streams && !context.has_groups() && is_narrow && first_rows >= kSeveralBlocks * size.rows) {
    if (element_bits_to == 8) size.rows = kNarrowRowRun;
    size.columns = 8 * kNarrowColumnRun / element_bits_to;
  }
  if (first_columns < size.columns) size.rows = std::max(size.rows, small / first_columns);
  if (first_rows < size.rows) size.columns = std::max(size.columns, small / first_rows);
  return size;
}

void TakeAxes(Candidate* candidate, BlockSize wanted, int64_t from_bits, int64_t to_bits, int64_t unit,
              int64_t row_multiple, int64_t column_multiple) {
  Loops& loops = candidate->loops;
  Step& step = candidate->step;
  const size_t column_loop = FindLoop(loops, &Loop::from, from_bits);
  const std::optional<Loop> reserved =
      column_loop < loops.size() ? std::make_optional(loops[column_loop]) : std::nullopt;
  Loops row_chain = TakeChain(&loops, &Loop::to, to_bits, wanted.rows, reserved ? &*reserved : nullptr);
  Loops column_chain = TakeChain(&loops, &Loop::from, from_bits, wanted.columns, nullptr);
  if (step.converts &&
      std::min(wanted.rows, ElementsOf(row_chain)) * std::min(wanted.columns, ElementsOf(column_chain)) >
          kConvertBlock * kConvertBlock) {
    wanted = {std::min(wanted.rows, kConvertBlock), std::min(wanted.columns, kConvertBlock)};
    GiveBack(wanted.rows, &row_chain, &loops);
    GiveBack(wanted.columns, &column_chain, &loops);
  }
  step.rows = MakeAxis(row_chain, wanted.rows, row_multiple, &Loop::from, unit);
  if (!step.converts && step.context->streams) {
    const Groups& groups = step.context->to_groups;
    const int64_t line_bytes = groups.any() ? CeilOfRatio(kCacheLine, groups.packed) * groups.padded : kCacheLine;
    const int64_t line = CeilOfRatio(line_bytes, step.element_bytes);  // at least
    AddOverhang(row_chain, line, &Loop::from, unit, &step.rows);
  }
  step.columns = MakeAxis(column_chain, wanted.columns, column_multiple, &Loop::to, unit);
  MakeGrid(loops,
           {ChunkLoop(step.rows, row_chain, GridLoop::Over::kRows),
            ChunkLoop(step.columns, column_chain, GridLoop::Over::kColumns)},
           &step);
}

}  // namespace kashi::internal
