// Loops of a box become axes, cut into blocks, and a grid over those.
#include "kashi/relayout/nests/axes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "kashi/base/math.h"

namespace kashi::relayout {
namespace {

constexpr int64_t kStreamedColumns = 64;  // at least
constexpr int64_t kNarrowBits = 32;
constexpr int64_t kSeveralBlocks = 3;
constexpr int64_t kGroupColumnRun = 512;  // in the strides of padded groups
constexpr int64_t kSmallBlock = 4096;     // narrow blocks are made longer until they have this many bytes

bool AllWholeBytes(const Box& box, size_t skipped) {
  bool whole = IsWhole(box.from_offset) && IsWhole(box.to_offset);
  for (size_t i = 0; i < box.loops.size(); ++i) {
    if (i != skipped) whole = whole && IsWhole(box.loops[i].from) && IsWhole(box.loops[i].to);
  }
  return whole;
}

// Moves the loops that continue `stride` on one side, beginning with `first`, from the box to a chain, until they have
// `wanted` elements. `reserved` stays.
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
void FindStretch(Offsets* offsets) {
  const std::vector<int64_t>& at = offsets->at;
  if (at.size() < 2) return;
  offsets->stride = at[1];
  while (offsets->stretch < at.size() && at[offsets->stretch] == offsets->stretch * offsets->stride) {
    ++offsets->stretch;
  }
}

// An axis under construction, with the positions of its elements on the other side, in units of `unit` bits.
class AxisCutter {
 public:
  AxisCutter(const Loops& chain, int64_t Loop::*other_side, int64_t unit)
      : chain_(chain), other_side_(other_side), unit_(unit) {}

  // Blocks of about `wanted` elements, a multiple of `multiple` unless the chain has fewer.
  void Cut(int64_t wanted, int64_t multiple) {
    while (cut_ < chain_.size() && axis_.whole * chain_[cut_].extent <= wanted) axis_.whole *= chain_[cut_++].extent;
    offsets_.at.push_back(0);
    for (size_t l = 0; l < cut_; ++l) Repeat(chain_[l].extent, StrideOf(l));
    if (cut_ < chain_.size()) {
      axis_.extent = chain_[cut_].extent;
      axis_.chunk = ChunkOf(axis_.extent, std::max<int64_t>(1, (wanted + axis_.whole / 2) / axis_.whole),
                            multiple / std::gcd(axis_.whole, multiple));
      Repeat(axis_.chunk, StrideOf(cut_));
    }
    FindStretch(&offsets_);
  }

  // Offsets of up to `count` elements of the next chunk.
  void AddOverhang(int64_t count) {
    if (axis_.chunk_count() == 1) return;
    const int64_t more = std::min(axis_.extent - axis_.chunk, CeilOfRatio(count, axis_.whole));
    for (int64_t i = axis_.chunk; i < axis_.chunk + more; ++i) {
      for (int64_t o = 0; o < axis_.whole; ++o) offsets_.at.push_back(offsets_.at[o] + i * StrideOf(cut_));
    }
    axis_.overhang = more * axis_.whole;
  }

  const Axis& axis() const { return axis_; }
  Offsets& offsets() { return offsets_; }
  // The loop over chunks, with strides of whole chunks.
  GridLoop chunks(GridLoop::Over over) const {
    if (axis_.chunk_count() == 1) return {1, 0, 0, over};
    return ChunksOf(axis_, chain_[cut_], over);
  }

 private:
  int64_t StrideOf(size_t loop) const { return chain_[loop].*other_side_ / unit_; }

  void Repeat(int64_t count, int64_t stride) {
    std::vector<int64_t>& at = offsets_.at;
    const size_t before = at.size();
    at.reserve(before * count);
    for (int64_t i = 1; i < count; ++i) {
      for (size_t o = 0; o < before; ++o) at.push_back(at[o] + i * stride);
    }
  }

  const Loops& chain_;
  int64_t Loop::*const other_side_;
  const int64_t unit_;
  Axis axis_;
  Offsets offsets_;
  size_t cut_ = 0;  // the loop of the chain that the axis cuts
};

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

int64_t ExtentAt(const Loops& loops, size_t i) { return i < loops.size() ? loops[i].extent : 1; }

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

Loop TakeLoop(size_t i, Loops* loops) {
  const Loop loop = (*loops)[i];
  loops->erase(loops->begin() + i);
  return loop;
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

GridLoop ChunksOf(const Axis& axis, const Loop& loop, GridLoop::Over over) {
  return {axis.chunk_count(), loop.from * axis.chunk, loop.to * axis.chunk, over};
}

TaskRows TakeTaskRows(int64_t bytes, const PlanContext& context, Loops* loops) {
  TaskRows rows;
  if (loops->empty()) return rows;
  rows.stride = TakeLoop(Innermost(*loops, &Loop::from), loops);
  rows.axis.extent = rows.stride.extent;
  rows.axis.chunk = std::min(rows.axis.extent, std::max<int64_t>(1, context.sizes.long_task / bytes));
  return rows;
}

BlockSize WantedBlock(const Loops& loops, int64_t element_bits_from, int64_t element_bits_to,
                      const PlanContext& context) {
  const BlockSizes& sizes = context.sizes;
  const bool streams = context.streams();
  const size_t row_loop = FindLoop(loops, &Loop::to, element_bits_to);
  const size_t column_loop = FindLoop(loops, &Loop::from, element_bits_from);
  const bool shares_lines = column_loop < loops.size() && loops[column_loop].to % (8 * kCacheLine) != 0;
  const int64_t streamed_run =
      (shares_lines ? 2 : 1) *
      std::min(sizes.streamed_row_run, sizes.streamed_scratch * element_bits_to / 8 / kCacheLine);
  const int64_t row_bits = 8 * (streams ? streamed_run : sizes.cached_row_run);
  const int64_t column_run = streams ? sizes.streamed_column_run : sizes.cached_column_run;
  const int64_t column_bits = 8 * (context.has_groups() ? kGroupColumnRun : column_run);
  BlockSize size = {std::max<int64_t>(1, row_bits / element_bits_to),
                    std::max<int64_t>(1, column_bits / element_bits_from)};
  if (streams) size.columns = std::max(size.columns, kStreamedColumns);
  const int64_t first_rows = ExtentAt(loops, row_loop), first_columns = ExtentAt(loops, column_loop);
  const int64_t small = kSmallBlock * 8 / std::max(element_bits_to, element_bits_from);
  const bool is_narrow = element_bits_from == element_bits_to && element_bits_to >= 8 && element_bits_to <= kNarrowBits;
  if (!streams && !context.has_groups() && is_narrow && first_rows >= kSeveralBlocks * size.rows) {
    if (element_bits_to == 8) size.rows = sizes.narrow_row_run;
    size.columns = 8 * sizes.narrow_column_run / element_bits_to;
  }
  if (first_columns < size.columns) size.rows = std::max(size.rows, small / first_columns);
  if (first_rows < size.rows) size.columns = std::max(size.columns, small / first_rows);
  return size;
}

BlockCut CutIntoBlocks(const Box& box, BlockWish wish, bool streams) {
  Loops loops = box.loops;
  const size_t column_loop = FindLoop(loops, &Loop::from, wish.from_bits);
  const std::optional<Loop> reserved =
      column_loop < loops.size() ? std::make_optional(loops[column_loop]) : std::nullopt;
  Loops row_chain = TakeChain(&loops, &Loop::to, wish.to_bits, wish.size.rows, reserved ? &*reserved : nullptr);
  Loops column_chain = TakeChain(&loops, &Loop::from, wish.from_bits, wish.size.columns, nullptr);
  if (wish.most > 0 &&
      std::min(wish.size.rows, ElementsOf(row_chain)) * std::min(wish.size.columns, ElementsOf(column_chain)) >
          wish.most * wish.most) {
    wish.size = {std::min(wish.size.rows, wish.most), std::min(wish.size.columns, wish.most)};
    GiveBack(wish.size.rows, &row_chain, &loops);
    GiveBack(wish.size.columns, &column_chain, &loops);
  }
  AxisCutter rows(row_chain, &Loop::from, wish.unit), columns(column_chain, &Loop::to, wish.unit);
  rows.Cut(wish.size.rows, wish.row_multiple);
  if (wish.overhang > 0) rows.AddOverhang(wish.overhang);
  columns.Cut(wish.size.columns, wish.column_multiple);
  BlockCut cut;
  cut.grid = MakeGrid(box, loops, rows.axis(), columns.axis(),
                      {rows.chunks(GridLoop::Over::kRows), columns.chunks(GridLoop::Over::kColumns)}, streams);
  cut.rows = std::move(rows.offsets());
  cut.columns = std::move(columns.offsets());
  return cut;
}

int64_t DenseColumns(const BlockCut& cut, int64_t element) {
  if (cut.grid.rows.chunk_count() > 1) return 1;
  int64_t dense = 1;
  const int64_t row = cut.grid.rows.block() * element;
  while (dense < cut.grid.columns.block() && cut.columns[dense] == dense * row) ++dense;
  return dense;  // loops as a whole, so that later stretches are like the first
}

}  // namespace kashi::relayout
