#include "kashi/relayout/step.h"

#include <array>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/base/math.h"
#include "kashi/relayout/nibble_words.h"

namespace kashi {
namespace {

// Sizes of blocks, in bytes. A block's rows become runs of the target, its columns are runs of the source. Beyond the caches
// memory wants long runs on both sides: a run of the target that begins or ends within a cache line is shared by two blocks,
// and a run of the source of four lines costs little more than one of one. Within the caches short runs of both do.
constexpr int64_t kStreamedRowRun = 512;     // of the target; twice that, if its lines are shared
constexpr int64_t kStreamedScratch = 16384;  // a line of columns, each so long: stays in the first cache; likewise
constexpr int64_t kStreamedColumnRun = 256;  // of the source
constexpr int64_t kStreamedColumns = 64;     // at least
constexpr int64_t kLongRowRun = 2048;  // of the target, in long blocks, which have a line of each run of the source
constexpr int64_t kLeastLongRowRun = 512;
constexpr int64_t kLongBlockRows = 512;       // at most, or less than twice that: each is on a page of its own
constexpr int64_t kLeastLongRowStride = 512;  // rows that are closer are better read whole
constexpr int64_t kCachedRowRun = 256;
constexpr int64_t kCachedColumnRun = 256;
constexpr int64_t kGroupColumnRun = 512;  // in the strides of padded groups
constexpr int64_t kCacheLine = 64;
constexpr size_t kCollisionWindow = 64;  // rows that a kernel works on at a time
constexpr int64_t kSmallBlock = 4096;    // narrow blocks are made longer until they have so much

constexpr int64_t kLongRow = 512;        // rows that need no line of their own
constexpr int64_t kRowChunk = 64 << 10;  // a task of a long row
constexpr int64_t kConvertChunk = 4096;  // elements
constexpr int64_t kConvertBlock = 256;   // elements of either axis: all of a block lies in scratch memory, twice
constexpr int64_t kElementsChunk = 64;   // along either axis

constexpr int64_t kInterleaveTask = 32 << 10;  // bytes
constexpr int64_t kLongInterleavedRow = 4096;  // bytes: shorter ones lose much by a cache line at their ends

// A box while a kernel is sought. The loops are the box's; those that a kernel takes for its axes go.
struct Candidate {
  Loops loops;
  Step step;
};

bool IsWhole(int64_t bits) { return bits % 8 == 0; }

bool AllWholeBytes(const Box& box, size_t skipped) {
  bool whole = IsWhole(box.from_offset) && IsWhole(box.to_offset);
  for (size_t i = 0; i < box.loops.size(); ++i) {
    if (i != skipped) whole = whole && IsWhole(box.loops[i].from) && IsWhole(box.loops[i].to);
  }
  return whole;
}

size_t FindLoop(const Loops& loops, int64_t Loop::*side, int64_t stride) {
  size_t i = 0;
  while (i < loops.size() && loops[i].*side != stride) ++i;
  return i;
}

// The loop that is contiguous on both sides becomes a part of the element, so that what is left is bytes. Returns bits of the
// element, or 0 where bytes do not do.
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

// Chunks of about the same size, of `wanted` or less than twice that, for no chunk is better than a short one: 200 in chunks of
// 128 are one, 300 are two of 150; rounded up to a multiple unless that would make them far too large.
int64_t ChunkOf(int64_t extent, int64_t wanted, int64_t multiple) {
  const int64_t chunks = std::max<int64_t>(1, extent / wanted);
  const int64_t chunk = CeilOfRatio(extent, chunks);
  const int64_t rounded = RoundUpTo(chunk, multiple);
  return std::min(extent, rounded <= 2 * wanted ? rounded : chunk);
}

// Windows of neighbours that have more lines than these of a set of the first cache.
bool Collides(const std::vector<int64_t>& offsets, int64_t ways) {
  for (size_t i = 0; i < offsets.size(); i += kCollisionWindow) {
    if (LinesCollide(&offsets[i], std::min(offsets.size() - i, kCollisionWindow), ways)) return true;
  }
  return false;
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

// Blocks in the order of one side's memory. Past the caches that is the source: reading profits from neighbours more than
// writing does. Within them it is the target: the blocks of a thread follow one another there, and no line that one core
// writes, or asks for ahead of its writes, is in the cache of another (which costs half the speed, and more).
void MakeGrid(const Loops& loops, std::initializer_list<GridLoop> chunks, Step* step) {
  for (const Loop& loop : loops) step->grid.push_back({loop.extent, loop.from, loop.to});
  for (const GridLoop& chunk : chunks) {
    if (chunk.count > 1) step->grid.push_back(chunk);
  }
  const auto side = step->context->streams ? &GridLoop::from : &GridLoop::to;
  std::stable_sort(step->grid.begin(), step->grid.end(),
                   [side](const GridLoop& a, const GridLoop& b) { return std::abs(a.*side) > std::abs(b.*side); });
}

// Columns that follow one another in the target when every block has all rows.
int64_t DenseColumns(const Axis& rows, const Axis& columns, int64_t element) {
  if (rows.chunk_count() > 1) return 1;
  int64_t dense = 1;
  const int64_t row = rows.block() * element;
  while (dense < columns.block() && columns.offsets[dense] == dense * row) ++dense;
  return dense;  // loops as a whole, so that later stretches are like the first
}

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

size_t InnermostOfSource(const Loops& loops) {
  return std::min_element(loops.begin(), loops.end(),
                          [](const Loop& a, const Loop& b) { return std::abs(a.from) < std::abs(b.from); }) -
         loops.begin();
}

// Takes the source's innermost loop as the rows that a task has; each is so many bytes. Returns the loop over such chunks.
GridLoop TakeTaskRows(int64_t bytes, Candidate* candidate) {
  Loops& loops = candidate->loops;
  Step& step = candidate->step;
  if (loops.empty()) return {1, 0, 0};
  const size_t inner = InnermostOfSource(loops);
  const Loop loop = loops[inner];
  loops.erase(loops.begin() + inner);
  step.rows = {1, loop.extent, std::min(loop.extent, std::max<int64_t>(1, kRowChunk / bytes)), {}};
  step.row_stride = loop;
  return {step.rows.chunk_count(), loop.from * step.rows.chunk, loop.to * step.rows.chunk, GridLoop::Over::kRows};
}

const char* TryRows(Candidate* candidate) {
  Step& step = candidate->step;
  const int64_t bytes = step.element_bytes;
  bool fills_lines = bytes % kCacheLine == 0;
  for (const Loop& loop : candidate->loops) fills_lines = fills_lines && loop.to % (8 * kCacheLine) == 0;
  const bool is_continued = FindLoop(candidate->loops, &Loop::to, bytes * 8) < candidate->loops.size();
  if (!candidate->loops.empty() && bytes < kLongRow && !fills_lines) {
    if (bytes < kCacheLine || is_continued) return "rows: shorter than 512 bytes and not whole cache lines";
  }
  step.kernel = Kernel::kRows;
  step.columns = {1, bytes, std::min(bytes, kRowChunk), {}};
  step.element_bytes = 1;
  const GridLoop over_rows = TakeTaskRows(bytes, candidate);
  MakeGrid(candidate->loops,
           {over_rows,
            {step.columns.chunk_count(), step.columns.chunk * 8, step.columns.chunk * 8, GridLoop::Over::kColumns}},
           &step);
  return nullptr;
}

// Words of a few elements on both sides, of which those of the target are full:
//
//   bf16, in pairs on both sides, but others:   128 (4 -> 4) x 2 (524288 -> 2) x 2 (2 -> 393216)
//                                               words          source rows     target rows
const char* TryExchange(Candidate* candidate) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  const int64_t bits = step.element_bytes * 8;
  const size_t sources = FindLoop(loops, &Loop::to, bits);
  if (sources == loops.size()) return "exchange: no words in the target";
  const int64_t elements = loops[sources].extent;
  const auto is_word = [&](const Loop& loop) { return loop.from == elements * bits && loop.to == elements * bits; };
  const auto words = std::find_if(loops.begin(), loops.end(), is_word);
  if (words == loops.end()) return "exchange: no run of words that both sides have";
  if (words->extent * elements * step.element_bytes < kCacheLine) return "exchange: runs shorter than a cache line";
  step.exchange = ExchangeFunctionFor(step.element_bytes, elements);
  if (step.exchange == nullptr) return "exchange: no function for words of so many elements";
  const size_t targets = FindLoop(loops, &Loop::from, bits);
  if (targets < loops.size() && (loops[targets].extent > elements || targets == sources)) {
    return "exchange: words of the source overlap";
  }
  step.kernel = Kernel::kExchange;
  const Loop run = *words;
  step.exchanged_sources = loops[sources];
  if (targets < loops.size()) step.exchanged_targets = loops[targets];
  Loops others;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i != sources && i != targets && &loops[i] != words) others.push_back(loops[i]);
  }
  loops = std::move(others);
  const int64_t word = elements * step.element_bytes;
  step.columns = {1, run.extent, std::min(run.extent, kRowChunk / word), {}};
  const GridLoop over_rows = TakeTaskRows(step.columns.chunk * word * step.exchanged_targets.extent, candidate);
  MakeGrid(loops,
           {over_rows,
            {step.columns.chunk_count(), step.columns.chunk * 8 * word, step.columns.chunk * 8 * word,
             GridLoop::Over::kColumns}},
           &step);
  return nullptr;
}

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

// How long a block is along either axis.
struct BlockSize {
  int64_t rows;
  int64_t columns;
};
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
  if (first_columns < size.columns) size.rows = std::max(size.rows, small / first_columns);
  if (first_rows < size.rows) size.columns = std::max(size.columns, small / first_rows);
  return size;
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

// Takes both axes out of the loops. The first loop of either axis is its own.
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

// What kernels want to know of the axes.
void DescribeBlocks(Step* step) {
  step->runs_fill_lines = RunsFillLines(*step);
  step->rows.collides = Collides(step->rows.offsets, kFirstCacheWays);
  step->columns.collides = Collides(step->columns.offsets, kFirstCacheWays / 2);  // the source's lines need room, too
}

// Whether half of the second cache has room for a line of each row: the other half is for the next block's.
bool FitsSecondCache(const std::vector<int64_t>& offsets) {
  constexpr size_t kSets = 1024;
  constexpr int kWays = 4;
  std::array<uint8_t, kSets> lines = {};
  for (int64_t offset : offsets) {
    if (++lines[(offset / kCacheLine) & (kSets - 1)] > kWays) return false;
  }
  return true;
}

bool IsGoodLongBlock(const Step& step) {
  const int64_t bytes = step.element_bytes;
  return step.rows.block() * bytes >= kLeastLongRowRun && step.columns.block() * bytes >= kCacheLine &&
         (step.dense_columns == 1 || step.runs_fill_lines) && std::abs(step.rows.stride) >= kLeastLongRowStride &&
         !step.rows.collides && !step.columns.collides && FitsSecondCache(step.rows.offsets);
}

// Blocks for StreamedTransposeFunction, where rows are far apart and runs of the target long. False where others do better.
bool TakeLongBlocks(Candidate* candidate) {
  const int64_t bytes = candidate->step.element_bytes, line = std::max<int64_t>(1, kCacheLine / bytes);
  const StreamedTransposeFunction function = StreamedTransposeFunctionFor(bytes);
  const StepContext& context = *candidate->step.context;
  if (!context.streams || context.has_groups() || !candidate->step.shuffle.empty() || function == nullptr) return false;
  for (int64_t run = kLongRowRun; run >= kLeastLongRowRun; run /= 2) {
    Candidate attempt = *candidate;
    TakeAxes(&attempt, {std::min(kLongBlockRows, run / bytes), line}, bytes * 8, bytes * 8, 8, line, line);
    attempt.step.dense_columns = DenseColumns(attempt.step.rows, attempt.step.columns, bytes);
    DescribeBlocks(&attempt.step);
    if (!IsGoodLongBlock(attempt.step)) continue;
    attempt.step.streamed_transpose = function;
    *candidate = std::move(attempt);
    return true;
  }
  return false;
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
  return nullptr;
}

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

// Elements that have no neighbours on either side still share cache lines: those close in the target are the rows of a block,
// those close in the source its columns.
void TakeElements(Candidate* candidate, const StepContext& context) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  step.kernel = Kernel::kElements;
  GridLoop over_rows = {1, 0, 0}, over_columns = {1, 0, 0};
  const auto take = [&](size_t i, Axis* axis, Loop* stride, GridLoop* over, GridLoop::Over which) {
    *stride = loops[i];
    loops.erase(loops.begin() + i);
    *axis = {1, stride->extent, std::min(stride->extent, kElementsChunk), {}};
    *over = {axis->chunk_count(), stride->from * axis->chunk, stride->to * axis->chunk, which};
  };
  if (!loops.empty()) take(loops.size() - 1, &step.rows, &step.row_stride, &over_rows, GridLoop::Over::kRows);
  if (!loops.empty()) {
    take(InnermostOfSource(loops), &step.columns, &step.column_stride, &over_columns, GridLoop::Over::kColumns);
  }
  MakeGrid(loops, {over_rows, over_columns}, &step);
  step.shares_bytes = !IsWhole(context.to.slot_bits);
  if (step.shares_bytes) step.tasks_together = step.TaskCount();
}

bool IsSameForm(const StepContext& context) {
  return context.from.type == context.to.type && context.from.slot_bits == context.to.slot_bits;
}

}  // namespace

StepContext::StepContext(const ElementForm& given_from, const ElementForm& given_to) : from(given_from), to(given_to) {
  if (IsSameForm(*this) && IsWhole(to.slot_bits)) return;
  // Nothing changes: all bits of a slot move, also those that the type does not use.
  moves_nibbles = IsSameForm(*this) && to.slot_bits == 4;
  resizes_nibbles = from.type == to.type && primitive_util::BitWidth(to.type) == 4 &&
                    std::min(from.slot_bits, to.slot_bits) == 4 && std::max(from.slot_bits, to.slot_bits) == 8;
  if (IsSameForm(*this)) from.type = to.type = primitive_util::UnsignedIntegralTypeForBitWidth(to.slot_bits);
  const auto bits = [](PrimitiveType type) -> int64_t { return 8 * primitive_util::ByteWidth(type); };
  const PrimitiveType narrow = bits(from.type) < bits(to.type) ? from.type : to.type;
  scratch = {narrow, bits(narrow)};
  convert = RowFunctionFor(from, to);
  in = RowFunctionFor(from, scratch);
  out = RowFunctionFor(scratch, to);
}

Step MakeStep(Box box, const StepContext& context) {
  const int64_t bits = IsSameForm(context) ? WidenElement(&box, context.to.slot_bits) : 0;
  Candidate candidate{box.loops, {}};
  Step& step = candidate.step;
  step.from_offset = box.from_offset;
  step.to_offset = box.to_offset;
  step.context = &context;
  step.converts = bits == 0;
  const auto refused = [&](const char* why) {
    if (why != nullptr) step.refusals.push_back(why);
    return why != nullptr;
  };
  if (bits != 0) {
    step.element_bytes = bits / 8;
    if (refused(TryRows(&candidate)) && refused(TryExchange(&candidate)) && refused(TryInterleave(&candidate)) &&
        refused(TryBlocks(&candidate))) {
      TakeElements(&candidate, context);
    }
  } else {
    if (refused(TryConvert(&candidate, context)) && refused(TryConvertBlocks(&candidate, context))) {
      TakeElements(&candidate, context);
    }
  }
  return std::move(candidate.step);
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
  if (TransposeFunctionFor(step.element_bytes) == nullptr || TryBlocks(&candidate) != nullptr) return std::nullopt;
  return std::move(candidate.step);
}

std::optional<Step> MakeTailStep(const Box& box, const StepContext& context, int64_t word_elements, bool fills_words) {
  int64_t Loop::*const words_side = fills_words ? &Loop::to : &Loop::from;
  int64_t Loop::*const dense_side = fills_words ? &Loop::from : &Loop::to;
  const int64_t bits = context.to.slot_bits, word = word_elements * bits / 8;
  Step step;
  step.kernel = Kernel::kTails;
  step.from_offset = box.from_offset;
  step.to_offset = box.to_offset;
  step.context = &context;
  step.element_bytes = bits / 8;
  step.transpose = TransposeFunctionFor(step.element_bytes);
  step.word_elements = word_elements;
  step.fills_words = fills_words;
  Loops loops = box.loops;
  const auto take = [&](size_t i) {
    const Loop loop = loops[i];
    loops.erase(loops.begin() + i);
    return loop;
  };
  const size_t elements = FindLoop(loops, words_side, bits);
  if (elements < loops.size()) (fills_words ? step.exchanged_sources : step.exchanged_targets) = take(elements);
  const size_t words = FindLoop(loops, words_side, 8 * word);
  if (words == loops.size() || loops[words].*dense_side != bits || step.transpose == nullptr) return std::nullopt;
  const Loop run = take(words);
  step.columns = {1, run.extent, std::min(run.extent, kTailTask / word), {}};
  const size_t next = FindLoop(loops, dense_side, bits * run.extent);
  if (next < loops.size()) {
    step.row_stride = take(next);
    step.rows = {1, step.row_stride.extent, 1, {}};
    step.rows.chunk = std::clamp<int64_t>(kTailTask / word / run.extent, 1, step.rows.extent);
  }
  MakeGrid(loops,
           {{step.rows.chunk_count(), step.row_stride.from * step.rows.chunk, step.row_stride.to * step.rows.chunk,
             GridLoop::Over::kRows},
            {step.columns.chunk_count(), run.from * step.columns.chunk, run.to * step.columns.chunk,
             GridLoop::Over::kColumns}},
           &step);
  return step;
}

int64_t Step::TaskCount() const {
  int64_t count = 1;
  for (const GridLoop& loop : grid) count *= loop.count;
  return count;
}

int64_t Step::TaskBytes() const {
  switch (kernel) {
    case Kernel::kRows:
      return rows.block() * columns.block();
    case Kernel::kTails:
    case Kernel::kExchange:
      return rows.block() * columns.block() * exchanged_sources.extent * exchanged_targets.extent * element_bytes;
    case Kernel::kInterleave:
    case Kernel::kBlocks:
      return rows.block() * columns.block() * element_bytes;
    case Kernel::kConvert:
      return CeilOfRatio<int64_t>(columns.block() * context->to.slot_bits, 8);
    case Kernel::kConvertBlocks:
      return CeilOfRatio<int64_t>(rows.block() * columns.block() * context->to.slot_bits, 8);
    case Kernel::kElements:
      return rows.block() * columns.block() * 16;  // as slow as so many bytes
  }
  return 1;
}

std::string Step::ToString() const {
  static constexpr const char* kNames[] = {"rows",  "exchange", "interleave",     "blocks",
                                           "tails", "convert",  "convert blocks", "elements"};
  std::string text = kNames[static_cast<int>(kernel)];
  switch (kernel) {
    case Kernel::kRows:
      absl::StrAppend(&text, " of ", columns.extent, " bytes, ", rows.block(), " at a time");
      break;
    case Kernel::kExchange:
      absl::StrAppend(&text, " of ", columns.extent, " words of ", exchanged_sources.extent, " x ", element_bytes,
                      " bytes, ", exchanged_targets.extent, " rows of them, ", rows.block(), " at a time");
      break;
    case Kernel::kInterleave:
      absl::StrAppend(&text, " of ", interleaving.rows, " rows x ", columns.block(), " columns of ", element_bytes,
                      " bytes", interleaving.is_back ? " in one run, " : ", ", rows.block() / interleaving.rows,
                      " at a time");
      break;
    case Kernel::kBlocks:
    case Kernel::kConvertBlocks:
      absl::StrAppend(&text, " of ", rows.block(), " rows x ", columns.block(), " columns of ", element_bytes,
                      " bytes");
      if (!shuffle.empty()) absl::StrAppend(&text, ", shuffled");
      if (words != Words::kNone) absl::StrAppend(&text, ", words of ", words == Words::kOfTarget ? "rows" : "columns");
      if (dense_columns > 1) absl::StrAppend(&text, ", ", dense_columns, " columns in one run");
      if (streamed_transpose != nullptr) absl::StrAppend(&text, ", line by line");
      for (const Groups& groups : {context->from_groups, context->to_groups}) {
        if (groups.any()) absl::StrAppend(&text, ", groups of ", groups.packed, " as ", groups.padded, " bytes");
      }
      break;
    case Kernel::kTails:
      absl::StrAppend(&text, " of ", columns.extent, " words of ", word_elements, " x ", element_bytes,
                      " bytes, of which ", exchanged_sources.extent * exchanged_targets.extent, " are elements, ",
                      rows.block(), " at a time");
      break;
    case Kernel::kConvert:
      absl::StrAppend(&text, " of ", columns.extent, " elements");
      break;
    case Kernel::kElements:
      absl::StrAppend(&text, ": ", rows.block(), " x ", columns.block());
      break;
  }
  absl::StrAppend(&text, ", ", TaskCount(), TaskCount() == 1 ? " task" : " tasks",
                  context->streams ? ", past the caches" : "");
  if (tasks_together > 1) absl::StrAppend(&text, ", ", tasks_together, " by one thread (they share bytes)");
  for (const char* refusal : refusals) absl::StrAppend(&text, "\n    not ", refusal);
  return text;
}

}  // namespace kashi
