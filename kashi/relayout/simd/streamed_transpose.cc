#include "kashi/relayout/simd/streamed_transpose.h"
#include "kashi/relayout/simd/highway_targets.h"

#include <algorithm>
#include <cstring>

#include "kashi/array/element_bytes.h"
#include "kashi/base/math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kashi/relayout/simd/streamed_transpose.cc"
#include "hwy/foreach_target.h"
// clang-format off
#include "hwy/highway.h"  // after foreach_target.h
#include "kashi/relayout/simd/highway_export-inl.h"
#include "kashi/relayout/simd/transpose_tiles-inl.h"
// clang-format on

#ifndef KASHI_RELAYOUT_STREAMED_TRANSPOSE_CC_
#define KASHI_RELAYOUT_STREAMED_TRANSPOSE_CC_
namespace kashi::relayout {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kGroupBytes =
    64;  // of columns that go down the rows together: a line of the source is used up at once

int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kLine; }

// Rows that a block reads: no more of the overhang than completes a line.
int64_t RowsOf(const StreamedBlock& block, int64_t element_bytes) {
  return block.rows + std::min(block.overhang, kLine / element_bytes);
}

// Scratch memory of a column: its last two strips (as many rows as a line has), and the first again, so that lines
// which begin in the second continue behind it. For all columns of a group; then the last line of each.
//
//   | strip 2k | strip 2k + 1 | strip 2k |
constexpr int64_t kRing = 2 * kLine;
constexpr int64_t kRingPitch = 3 * kLine;

}  // namespace
}  // namespace kashi::relayout
#endif  // KASHI_RELAYOUT_STREAMED_TRANSPOSE_CC_

HWY_BEFORE_NAMESPACE();
namespace kashi::relayout {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

StreamedTransposeFunction StreamedFunctionFor(int64_t) { return nullptr; }

#else

// A line of each of 16 / W columns, from the rows at `from_offsets` on; column i's goes to to + i * kPitch.
template <int W, int64_t kPitch>
HWY_INLINE void MakeLines(const char* from, const int64_t* from_offsets, char* to) {
  const Long d;
  char* at[kLaneBytes / W];
  HWY_UNROLL(16)
  for (int i = 0; i < kLaneBytes / W; ++i) at[i] = to + i * kPitch;
  HWY_UNROLL(4)
  for (int b = 0; b < kLine; b += kVectorBytes<Long>) TransposeTall<W>(d, from, from_offsets, at, b / W);
}

HWY_INLINE void StreamLine(const char* from, char* to) {
  const Long d;
  HWY_UNROLL(4)
  for (int b = 0; b < kLine; b += kVectorBytes<Long>) hn::Stream(hn::LoadU(d, AsBytes(from + b)), d, AsBytes(to + b));
}

template <int W>
bool FillsLines(const StreamedBlock& block) {
  bool fills = block.rows * W % kLine == 0;
  for (int64_t c = 0; c < block.columns; ++c) fills = fills && BytesToLine(block.to + block.to_offsets[c]) == 0;
  return fills;
}

// Straight into the target. The lines are made in the nearest cache, and leave it at once.
template <int W>
void StreamWholeLines(const StreamedBlock& given, Prefetcher* prefetcher) {
  const StreamedBlock block = given;  // so that no store can change it
  constexpr int64_t kColumns = kLaneBytes / W;
  alignas(kLine) char lines[kColumns * kLine];
  for (int64_t r = 0; r < block.rows; r += kLine / W) {
    for (int64_t c = 0; c < block.columns; c += kColumns) {
      const int64_t column = std::min(c, block.columns - kColumns);
      MakeLines<W, kLine>(block.from + column * W, block.from_offsets + r, lines);
      char* const to = block.to + r * W;
      HWY_UNROLL(16)
      for (int64_t i = 0; i < kColumns; ++i) StreamLine(lines + i * kLine, to + block.to_offsets[column + i]);
    }
    prefetcher->Portion();
  }
}

// A line of each of some columns of the ring.
template <int64_t kColumns>
HWY_INLINE void CopyLines(const char* from, char* to) {
  const Long d;
  HWY_UNROLL(16)
  for (int64_t i = 0; i < kColumns; ++i) {
    HWY_UNROLL(4)
    for (int b = 0; b < kLine; b += kVectorBytes<Long>) {
      hn::Store(hn::Load(d, AsBytes(from + i * kRingPitch + b)), d, AsBytes(to + i * kRingPitch + b));
    }
  }
}

// A tile of whole lines to the strips of 16 / W columns. Not inlined, as StreamStrips: in the loop compilers keep all
// the sums of addresses in memory, and load them for each tile.
template <int W>
HWY_NOINLINE void MakeStrips(const char* from, const int64_t* from_offsets, char* ring, int64_t strip) {
  ring += strip % 2 * kLine;
  MakeLines<W, kRingPitch>(from, from_offsets, ring);
  if (strip % 2 == 0) CopyLines<kLaneBytes / W>(ring, ring + kRing);
}

// For a column: its first line in the target, and where that line begins in the column.
struct Lines {
  char* to;
  int64_t head;
};

// The line of each of 16 / W columns that ends in this strip.
template <int W>
HWY_NOINLINE void StreamStrips(const char* ring, int64_t strip, const Lines* lines) {
  const int64_t before = (strip - 1) * kLine;
  ring += before % kRing;
  HWY_UNROLL(16)
  for (int64_t i = 0; i < kLaneBytes / W; ++i) StreamLine(ring + i * kRingPitch + lines[i].head, lines[i].to + before);
}

// The heads of all columns, up to their first lines, out of the first strip.
void WriteHeads(const StreamedBlock& block, const char* ring, const Lines* lines) {
  for (int64_t c = 0; c < block.columns; ++c, ring += kRingPitch) {
    std::memcpy(lines[c].to - lines[c].head, ring, lines[c].head);
  }
}

// The last line's worth of all columns, for rows that fill no strip: `last` has a line for each.
template <int W>
void MakeLast(const StreamedBlock& block, char* last) {
  constexpr int64_t kColumns = kLaneBytes / W;
  const int64_t* const from_offsets = block.from_offsets + RowsOf(block, W) - kLine / W;
  for (int64_t c = 0; c < block.columns; c += kColumns) {
    const int64_t column = std::min(c, block.columns - kColumns);
    MakeLines<W, kLine>(block.from + column * W, from_offsets, last + column * kLine);
  }
}

// Writes the rest of the columns, which no strip has written: less than two lines of each.
template <int W>
void WriteEnds(const StreamedBlock& block, const char* ring, char* last, const Lines* lines) {
  const int64_t strips = RowsOf(block, W) / (kLine / W), rest = RowsOf(block, W) % (kLine / W) * W;
  const int64_t bytes = block.rows * W, beyond = std::min(block.overhang * W, kLine);
  const int64_t last_strip = (strips - 1) * kLine;
  if (rest > 0) MakeLast<W>(block, last);
  for (int64_t c = 0; c < block.columns; ++c, ring += kRingPitch, last += kLine) {
    char* const to = lines[c].to - lines[c].head;
    const int64_t end = bytes + std::min(BytesToLine(to + bytes), beyond);
    int64_t at = lines[c].head + last_strip;
    if (at >= end) continue;
    char run[2 * kLine];  // from the last strip on
    std::memcpy(run, ring + last_strip % kRing, kLine);
    std::memcpy(run + kLine, last + kLine - rest, rest);
    for (; at + kLine <= end; at += kLine) StreamLine(run + (at - last_strip), to + at);
    std::memcpy(to + at, run + (at - last_strip), end - at);
  }
}

// The last tile made, of which no line is written yet. No strip: none.
struct Made {
  int64_t strip = 0;
  int64_t column = 0;
};

template <int W>
HWY_INLINE void StreamMade(const char* ring, const Lines* lines, Made* made) {
  if (made->strip > 0) StreamStrips<W>(ring + made->column * kRingPitch, made->strip, lines + made->column);
  made->strip = 0;
}

// Strip by strip. A line of the target ends in the strip after the one in which it begins. It is read from the ring
// when the next tile is made: reading bytes across two recent writes would wait for both, and
// for all writes to memory before them.
template <int W>
void StreamByScratch(const StreamedBlock& given, char* ring, Prefetcher* prefetcher) {
  const StreamedBlock block = given;
  constexpr int64_t kColumns = kLaneBytes / W;
  constexpr int64_t kStripRows = kLine / W;
  Lines lines[kGroupBytes / W];
  for (int64_t c = 0; c < block.columns; ++c) {
    char* const to = block.to + block.to_offsets[c];
    lines[c] = {to + BytesToLine(to), BytesToLine(to)};
  }
  Made made;
  for (int64_t strip = 0, strips = RowsOf(block, W) / kStripRows; strip < strips; ++strip) {
    if (made.column < kColumns) StreamMade<W>(ring, lines, &made);  // the first tile will take its place
    for (int64_t c = 0; c < block.columns; c += kColumns) {
      const int64_t column = std::min(c, block.columns - kColumns);
      MakeStrips<W>(block.from + column * W, block.from_offsets + strip * kStripRows, ring + column * kRingPitch,
                    strip);
      StreamMade<W>(ring, lines, &made);
      made = {strip, column};
    }
    if (strip == 0 && !block.skips_head) WriteHeads(block, ring, lines);
    prefetcher->Portion();
  }
  StreamMade<W>(ring, lines, &made);
  WriteEnds<W>(block, ring, ring + kGroupBytes / W * kRingPitch, lines);
}

// Takes as many columns at a time as a line of the source has.
template <int W>
void StreamTransposed(const StreamedBlock& block, char* scratch, Prefetcher* prefetcher) {
  constexpr int64_t kGroup = kGroupBytes / W;
  for (int64_t c = 0; c < block.columns; c += kGroup) {
    const int64_t column = std::min(c, block.columns - kLaneBytes / W);
    StreamedBlock group = block;
    group.from += column * W;
    group.to_offsets += column;
    group.columns = std::min(kGroup, block.columns - column);
    if (FillsLines<W>(group)) {
      StreamWholeLines<W>(group, prefetcher);
    } else {
      StreamByScratch<W>(group, scratch, prefetcher);
    }
  }
}

StreamedTransposeFunction StreamedFunctionFor(int64_t element_bytes) {
  return array::WithElementBytes(element_bytes, StreamedTransposeFunction{},
                                 [](auto bytes) -> StreamedTransposeFunction {
                                   if constexpr (bytes <= 8) return &StreamTransposed<bytes>;
                                   return nullptr;
                                 });
}

#endif  // HWY_TARGET == HWY_SCALAR

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace kashi::relayout
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kashi::relayout {

int64_t StreamedScratchBytes(int64_t element_bytes) { return (kRingPitch + kLine) * (kGroupBytes / element_bytes); }

int64_t StreamedPortions(const StreamedBlock& block, int64_t element_bytes) {
  return CeilOfRatio(block.columns, kGroupBytes / element_bytes) *
         std::max<int64_t>(1, RowsOf(block, element_bytes) / (kLine / element_bytes));
}

KASHI_EXPORT(StreamedTransposeFunction, StreamedTransposeFunctionFor, (int64_t element_bytes), StreamedFunctionFor,
             (element_bytes))

}  // namespace kashi::relayout
#endif  // HWY_ONCE
