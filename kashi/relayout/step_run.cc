// Entry point: RunStep. A walk over the grid of blocks; for each, the kernel of the step.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "kashi/base/math.h"
#include "kashi/relayout/copy_rows.h"
#include "kashi/relayout/prefetcher.h"
#include "kashi/relayout/run_block.h"
#include "kashi/relayout/shuffle_kernel.h"
#include "kashi/relayout/step.h"
#include "kashi/relayout/streamed_transpose.h"

namespace kashi {
namespace {

constexpr int64_t kCacheLine = 64;

// The grid's indices, stepped like an odometer.
class GridWalk {
 public:
  GridWalk(const Step& step, int64_t task) : step_(step), index_(step.grid.size()) {
    block_.from = step.from_offset;
    block_.to = step.to_offset;
    for (size_t i = index_.size(); i-- > 0;) {
      const GridLoop& loop = step.grid[i];
      index_[i] = task % loop.count;
      task /= loop.count;
      block_.from += index_[i] * loop.from;
      block_.to += index_[i] * loop.to;
    }
    Resize();
  }

  const Block& block() const { return block_; }

  void Next() {
    for (size_t i = index_.size(); i-- > 0;) {
      const GridLoop& loop = step_.grid[i];
      block_.from += loop.from;
      block_.to += loop.to;
      if (++index_[i] < loop.count) break;
      block_.from -= loop.count * loop.from;
      block_.to -= loop.count * loop.to;
      index_[i] = 0;
    }
    Resize();
  }

 private:
  // The last chunk of an axis may be shorter.
  void Resize() {
    int64_t row_chunk = 0, column_chunk = 0;
    for (size_t i = 0; i < index_.size(); ++i) {
      if (step_.grid[i].over == GridLoop::Over::kRows) row_chunk = index_[i];
      if (step_.grid[i].over == GridLoop::Over::kColumns) column_chunk = index_[i];
    }
    const Axis& rows = step_.rows;
    block_.rows = rows.BlockAt(row_chunk);
    block_.overhang = row_chunk + 1 == rows.chunk_count()
                          ? 0
                          : std::min(rows.overhang, rows.whole * (rows.extent - (row_chunk + 1) * rows.chunk));
    block_.is_first_of_rows = row_chunk == 0;
    block_.columns = step_.columns.BlockAt(column_chunk);
    block_.columns_before = column_chunk * step_.columns.block();
  }

  const Step& step_;
  absl::InlinedVector<int64_t, 6> index_;
  Block block_;
};

template <int kBytes>
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

// Elements of any size, at any distance.
void MoveElements(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t count, int64_t bytes) {
  switch (bytes) {
    case 1:
      return MoveElements<1>(from, from_stride, to, to_stride, count);
    case 2:
      return MoveElements<2>(from, from_stride, to, to_stride, count);
    case 4:
      return MoveElements<4>(from, from_stride, to, to_stride, count);
    case 8:
      return MoveElements<8>(from, from_stride, to, to_stride, count);
    case 16:
      return MoveElements<16>(from, from_stride, to, to_stride, count);
    default:
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
  }
}

// Of whole groups, if the side has them.
int64_t BytesInMemory(const Groups& groups, int64_t bytes) { return groups.any() ? groups.InMemory(bytes) : bytes; }

Prefetcher PrefetcherOf(const Step& step, const Block& next, const char* from, int64_t portions) {
  const Axis& rows = step.rows;
  const int64_t bytes = BytesInMemory(step.context->from_groups, next.columns * step.element_bytes);
  return Prefetcher({from + next.from / 8, rows.offsets.data(), next.rows, bytes, rows.stride, rows.stretch}, portions);
}

// How many elements along an axis can be moved at once as a dense block, each line of it `line_bytes` long; 0 where that is not
// worth while: only narrow blocks have faster ways for them.
int64_t DenseStretch(const Axis& axis, int64_t line_bytes) {
  return axis.stride == line_bytes && line_bytes <= 16 && axis.stretch * line_bytes >= 256 ? axis.stretch : 0;
}

// Straight into the target.
void RunCachedBlock(const Step& step, const Block& block, const char* from, char* to) {
  const int64_t bytes = step.element_bytes;
  const int64_t dense_rows = DenseStretch(step.rows, block.columns * bytes);
  const int64_t dense_columns = DenseStretch(step.columns, block.rows * bytes);
  const int64_t row_step = dense_rows > 0 ? dense_rows : block.rows;
  const int64_t column_step = dense_columns > 0 ? dense_columns : block.columns;
  for (int64_t r = 0; r < block.rows; r += row_step) {
    for (int64_t c = 0; c < block.columns; c += column_step) {
      const int64_t rows = std::min(row_step, block.rows - r), columns = std::min(column_step, block.columns - c);
      Transpose({from + block.from / 8 + step.rows.offsets[r] + c * bytes, step.rows.offsets.data(), rows,
                 to + block.to / 8 + step.columns.offsets[c] + r * bytes, step.columns.offsets.data(), columns,
                 dense_rows > 0 && columns == block.columns, dense_columns > 0 && rows == block.rows,
                 step.rows.collides || LinesCollide(step.rows.stride, rows),
                 step.columns.collides || LinesCollide(step.columns.stride, columns)},
                step);
    }
  }
}

// Cache lines that blocks share are written by the first of them, whole: it has the rows that overhang for that.
bool SharesLines(const Step& step, const char* to) {
  if (!step.context->streams || step.rows.overhang == 0) return false;
  return !step.runs_fill_lines || reinterpret_cast<uintptr_t>(to + step.to_offset / 8) % kCacheLine != 0;
}

// Long runs of the target, each by itself.
bool RunStreamedBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  const int64_t bytes = step.element_bytes;
  if (step.streamed_transpose == nullptr || block.rows * bytes < kCacheLine || block.columns * bytes < 16) return false;
  const bool shares_lines = SharesLines(step, to);
  const StreamedBlock streamed = {
      from + block.from / 8, step.rows.offsets.data(),    block.rows,    shares_lines ? block.overhang : 0,
      to + block.to / 8,     step.columns.offsets.data(), block.columns, shares_lines && !block.is_first_of_rows};
  Prefetcher prefetcher = PrefetcherOf(step, next, from, StreamedPortions(streamed, bytes));
  step.streamed_transpose(streamed, Scratch::OfThread().Bytes(StreamedScratchBytes(bytes)), &prefetcher);
  return true;
}

// A group of columns of a block at a time, by way of scratch memory that stays in the first cache.
class ScratchBlock {
 public:
  ScratchBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to)
      : step_(step),
        block_(block),
        from_(from + block.from / 8),
        to_(to + block.to / 8),
        bytes_(step.element_bytes),
        shares_lines_(SharesLines(step, to)),
        overhang_(shares_lines_ ? block.overhang : 0),
        skips_head_(shares_lines_ && !block.is_first_of_rows),
        rows_(block.rows + overhang_),
        run_bytes_(BytesInMemory(step.context->to_groups, block.rows * bytes_)),
        beyond_(BytesInMemory(step.context->to_groups, overhang_ * bytes_)),
        group_(GroupOf(block.columns)),
        strip_(step.context->has_groups() ? kExpandedRows
                                          : std::max<int64_t>(kStripRows, kStripBytes / (group_ * bytes_))),
        prefetcher_(PrefetcherOf(step, next, from, Portions(block.columns))) {}

  void Run() {
    const Groups &from_groups = step_.context->from_groups, &to_groups = step_.context->to_groups;
    const int64_t bytes = RoundUpTo(rows_ * group_ * bytes_, kCacheLine);
    scratch_ = Scratch::OfThread().Bytes(from_groups.any() ? bytes + strip_ * ExpandedPitch(group_) : bytes);
    expanded_ = scratch_ + bytes;
    for (int64_t column = 0; column < block_.columns; column += group_) {
      const int64_t columns = std::min(group_, block_.columns - column);
      if (step_.context->streams) AskForPartialLines(column, columns);
      if (from_groups.any()) {
        TransposeExpanded(column, columns);
      } else {
        TransposeGroup(column, columns);
      }
      if (!step_.shuffle.empty()) ShuffleElements(step_.shuffle, scratch_, rows_ * columns * bytes_);
      if (to_groups.any()) step_.context->lanes.Pack(scratch_, rows_ * columns * bytes_ / to_groups.padded);
      StoreGroup(column, columns);
    }
  }

 private:
  static constexpr int64_t kGroupBytes = 4096;  // of narrow blocks
  static constexpr int64_t kStripRows = 64;
  static constexpr int64_t kStripBytes = 4096;
  static constexpr int64_t kExpandedRows = 16;        // where groups are padded: a row's bytes are used up at once
  static constexpr int64_t kExpandedBytes = 1 << 16;  // of scratch; likewise
  static constexpr int64_t kStoreBytes = 1024;        // between two portions of prefetching

  // A cache line of columns, or more of them if they are short.
  int64_t GroupOf(int64_t columns) const {
    int64_t line = std::max<int64_t>(1, kCacheLine / bytes_);
    const Groups& groups = step_.context->from_groups;
    if (groups.any()) line = RoundUpTo(line, std::lcm(groups.padded, bytes_) / bytes_);
    const int64_t bytes = step_.context->has_groups() ? kExpandedBytes : kGroupBytes;
    return std::min(columns, std::max(line, RoundDownTo(bytes / (rows_ * bytes_), line)));
  }

  // Of prefetching, in a block.
  int64_t Portions(int64_t columns) const {
    return CeilOfRatio(columns, group_) * (CeilOfRatio(rows_, strip_) + group_ * rows_ * bytes_ / kStoreBytes);
  }

  // Lines of the target of which the group writes only a part must be read first, and all writes behind them wait for that.
  void AskForPartialLines(int64_t column, int64_t columns) const {
    const int64_t dense = step_.dense_columns;
    for (int64_t c = column, end = column + columns; c < end;) {
      const int64_t run = std::min(end - c, dense - c % dense);
      const char* const to = to_ + step_.columns.offsets[c];
      const char* const to_end = to + run * run_bytes_;
      if (!skips_head_ && BytesToLine(to) > 0) __builtin_prefetch(to, 1);
      if (BytesToLine(to_end) > beyond_) __builtin_prefetch(to_end, 1);
      c += run;
    }
  }

  // A strip of rows at a time; dense ones do not cross the end of a stretch.
  void TransposeGroup(int64_t column, int64_t columns) {
    const int64_t* const offsets = step_.rows.offsets.data();
    const int64_t stretch = DenseStretch(step_.rows, columns * bytes_);
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(0, columns, rows_ * bytes_);
    for (int64_t row = 0; row < rows_;) {
      const int64_t rows = std::min({strip_, rows_ - row, stretch > 0 ? stretch - row % stretch : rows_});
      const char* const from = from_ + column * bytes_;
      Transpose({stretch > 0 ? from + offsets[row] : from, stretch > 0 ? offsets : offsets + row, rows,
                 scratch_ + row * bytes_, to_offsets, columns, stretch > 0, rows == rows_, step_.rows.collides,
                 LinesCollide(rows_ * bytes_, columns)},
                step_);
      row += rows;
      prefetcher_.Portion();
    }
  }

  // The same by way of rows whose groups are padded.
  void TransposeExpanded(int64_t column, int64_t columns) {
    const Groups& groups = step_.context->from_groups;
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(0, columns, rows_ * bytes_);
    const int64_t* const expanded_offsets = Scratch::OfThread().Offsets(1, strip_, ExpandedPitch(columns));
    for (int64_t row = 0; row < rows_; row += strip_) {
      const int64_t rows = std::min(strip_, rows_ - row);
      step_.context->lanes.Expand(from_ + groups.InMemory(column * bytes_), step_.rows.offsets.data() + row, rows,
                                  columns * bytes_ / groups.padded, expanded_, ExpandedPitch(columns));
      Transpose({expanded_, expanded_offsets, rows, scratch_ + row * bytes_, to_offsets, columns, false, rows == rows_,
                 false, LinesCollide(rows_ * bytes_, columns)},
                step_);
      prefetcher_.Portion();
    }
  }
  int64_t ExpandedPitch(int64_t columns) const { return RoundUpTo<int64_t>(columns * bytes_, 16); }

  void StoreGroup(int64_t column, int64_t columns) {
    const int64_t dense = step_.dense_columns, pitch = run_bytes_ + beyond_;
    for (int64_t c = 0; c < columns;) {
      const int64_t run = std::min(columns - c, dense - (column + c) % dense);
      if (run > 1 || run_bytes_ > kStoreBytes) {
        StoreRun(to_ + step_.columns.offsets[column + c], scratch_ + c * pitch, run * run_bytes_);
        c += run;
      } else {
        c += StoreShortRuns(column + c, columns - c, scratch_ + c * pitch);
      }
    }
  }

  // Some of the columns from `column` on; returns how many.
  int64_t StoreShortRuns(int64_t column, int64_t columns, const char* from) {
    const Axis& axis = step_.columns;
    const int64_t count = std::min({columns, kStoreBytes / run_bytes_, axis.stretch - column % axis.stretch});
    const RowCopy copy = {from, run_bytes_ + beyond_, to_ + axis.offsets[column], axis.stride, count, run_bytes_};
    if (step_.context->streams) {
      StreamLinesOfRows(copy, skips_head_, beyond_);
    } else {
      CopyRows(copy);
    }
    prefetcher_.Portion();
    return count;
  }

  // In pieces that end with a line.
  void StoreRun(char* to, const char* from, int64_t bytes) {
    int64_t at = skips_head_ ? BytesToLine(to) : 0;
    const int64_t end = bytes + std::min(BytesToLine(to + bytes), beyond_);
    while (at < end) {
      const int64_t piece = std::min(end - at, kStoreBytes + BytesToLine(to + at));
      if (step_.context->streams) {
        StreamCopy(to + at, from + at, piece);
      } else {
        CopyRow(to + at, from + at, piece);
      }
      prefetcher_.Portion();
      at += piece;
    }
  }

  static int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kCacheLine; }

  const Step& step_;
  const Block& block_;
  const char* from_;
  char* to_;
  int64_t bytes_;
  bool shares_lines_;
  int64_t overhang_;
  bool skips_head_;
  int64_t rows_;       // with overhang
  int64_t run_bytes_;  // of the target: the block's rows
  int64_t beyond_;     // those that overhang
  int64_t group_;      // columns
  int64_t strip_;      // rows
  Prefetcher prefetcher_;
  char* scratch_ = nullptr;
  char* expanded_ = nullptr;  // a strip of rows of a group
};

void RunBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  if (step.context->streams && RunStreamedBlock(step, block, next, from, to)) return;
  if (step.context->streams || step.context->has_groups() || !step.shuffle.empty()) {
    ScratchBlock(step, block, next, from, to).Run();
  } else {
    RunCachedBlock(step, block, from, to);
  }
}

void RunElements(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& row = step.row_stride;
  const Loop& column = step.column_stride;
  for (int64_t c = 0; c < block.columns; ++c) {
    const int64_t from_bit = block.from + c * column.from, to_bit = block.to + c * column.to;
    if (!step.converts) {
      MoveElements(from + from_bit / 8, row.from / 8, to + to_bit / 8, row.to / 8, block.rows, step.element_bytes);
      continue;
    }
    for (int64_t r = 0; r < block.rows; ++r) {
      CallRowFunction(step.context->convert, from, from_bit + r * row.from, to, to_bit + r * row.to, 1);
    }
  }
}

void RunRows(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& row = step.row_stride;
  const RowCopy copy = {from + block.from / 8, row.from / 8, to + block.to / 8, row.to / 8, block.rows, block.columns};
  step.context->streams ? StreamRows(copy) : CopyRows(copy);
}

void RunExchange(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& row = step.row_stride;
  const int64_t bytes = block.columns * step.exchanged_sources.extent * step.element_bytes;
  for (int64_t r = 0; r < block.rows; ++r) {
    step.exchange(
        {from + (block.from + r * row.from) / 8, step.exchanged_sources.from / 8, to + (block.to + r * row.to) / 8,
         step.exchanged_targets.to / 8, step.exchanged_targets.extent, bytes},
        step.context->streams);
  }
}

//   source rows -> scratch, padding behind them -> transpose -> words -> target
void RunFilledWords(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& elements = step.exchanged_sources;
  const int64_t count = block.rows * block.columns;
  const int64_t row_bytes = count * step.element_bytes, word = step.word_elements * step.element_bytes;
  Scratch& scratch = Scratch::OfThread();
  char* const rows = scratch.Bytes(2 * kTailTask);
  char* const words = rows + kTailTask;
  CopyRows({from + block.from / 8, elements.from / 8, rows, row_bytes, elements.extent, row_bytes});
  CopyRows({step.context->fill.data(), 0, rows + elements.extent * row_bytes, row_bytes,
            step.word_elements - elements.extent, row_bytes});
  step.transpose({rows, scratch.Offsets(0, step.word_elements, row_bytes), step.word_elements, words,
                  scratch.Offsets(1, count, word), count, true, true});
  const int64_t run = block.columns * word;
  const RowCopy copy = {words, run, to + block.to / 8, step.row_stride.to / 8, block.rows, run};
  step.context->streams ? StreamRows(copy) : CopyRows(copy);
}

//   source words (together in scratch) -> transpose -> rows, those of padding behind them -> target
void RunPartOfWords(const Step& step, const Block& block, const char* from, char* to) {
  const Loop& elements = step.exchanged_targets;
  const int64_t count = block.rows * block.columns;
  const int64_t row_bytes = count * step.element_bytes, word = step.word_elements * step.element_bytes;
  Scratch& scratch = Scratch::OfThread();
  char* const rows = scratch.Bytes(2 * kTailTask);
  const char* words = from + block.from / 8;
  if (block.rows > 1 && step.row_stride.from / 8 != block.columns * word) {
    char* const together = rows + kTailTask;
    CopyRows({words, step.row_stride.from / 8, together, block.columns * word, block.rows, block.columns * word});
    words = together;
  }
  step.transpose({words, scratch.Offsets(0, count, word), count, rows,
                  scratch.Offsets(1, step.word_elements, row_bytes), step.word_elements, true, true});
  const RowCopy copy = {rows, row_bytes, to + block.to / 8, elements.to / 8, elements.extent, row_bytes};
  step.context->streams ? StreamRows(copy) : CopyRows(copy);
}

void Prefetch(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(from + at);
}

// A part of each row after the other, put together in scratch memory: past the caches memory wants long runs. A line that two
// parts share is written by the first, whole.
//
//   row           |     part      |     part      |
//   target     |    line    |    line    |    line    |
class RunOfRows {
 public:
  RunOfRows(const Step& step, const Block& block, const char* from, char* to)
      : in_(step.interleaving),
        block_(block),
        bytes_(step.element_bytes),
        behind_(step.columns.extent - block.columns_before - block.columns),
        from_(from + block.from / 8),
        to_(to + block.to / 8) {}

  void Run() {
    char* const scratch = Scratch::OfThread().Bytes(in_.rows * kPitch);
    const int64_t part = kPartBytes / bytes_;
    for (int64_t c = 0; c < block_.columns;) {
      const int64_t left = block_.columns - c, columns = left < 2 * part ? left : part;
      const int64_t all_behind = behind_ + left - columns;
      const int64_t beyond = std::min(all_behind, CeilOfRatio(kCacheLine, bytes_));
      in_.functions.deinterleave({from_ + c * in_.rows * bytes_, scratch, kPitch, columns + beyond});
      const int64_t ahead = std::min(all_behind, part) * bytes_;
      for (int64_t r = 0; r < in_.rows; ++r) {
        StreamLinesOfRows({scratch + r * kPitch, 0, to_ + c * bytes_ + r * in_.row_stride, 0, 1, columns * bytes_},
                          c + block_.columns_before > 0, beyond * bytes_);
        Prefetch(from_ + (c + columns) * in_.rows * bytes_ + r * ahead, ahead);
      }
      c += columns;
    }
  }

 private:
  static constexpr int64_t kPartBytes = 1024;
  static constexpr int64_t kPitch = 2 * kPartBytes + 3 * kCacheLine;  // rows do not collide

  const Interleaving& in_;
  const Block& block_;
  int64_t bytes_;
  int64_t behind_;  // columns of the other blocks
  const char* from_;
  char* to_;
};

// Interleavings that continue one another's rows, by way of scratch memory for the same reason.
void RunGathered(const Step& step, const InterleaveJob& job, const char* next) {
  const Interleaving& in = step.interleaving;
  const int64_t piece = job.columns * step.element_bytes, row_bytes = job.outer.count * piece;
  const int64_t pitch = row_bytes + kCacheLine;  // rows do not collide
  char* const scratch = Scratch::OfThread().Bytes(job.inner.count * in.rows * pitch);
  InterleaveJob gathered = job;
  gathered.to = scratch;
  gathered.row_stride = pitch;
  gathered.inner.to = in.rows * pitch;
  gathered.outer.to = piece;
  in.functions.deinterleave(gathered);
  for (int64_t i = 0; i < job.inner.count; ++i) {
    for (int64_t r = 0; r < in.rows; ++r) {
      const int64_t row = i * in.rows + r;
      StreamCopy(job.to + i * job.inner.to + r * job.row_stride, scratch + row * pitch, row_bytes);
      Prefetch(next + row * row_bytes, row_bytes);
    }
  }
}

void RunInterleaving(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  const Interleaving& in = step.interleaving;
  if (in.has_long_rows) return RunOfRows(step, block, from, to).Run();
  const auto repeat = [](int64_t count, const Loop& loop) {
    return InterleaveJob::Repeat{count, loop.from / 8, loop.to / 8};
  };
  const InterleaveJob job = {from + block.from / 8,
                             to + block.to / 8,
                             in.row_stride,
                             block.columns,
                             repeat(in.inner.extent, in.inner),
                             repeat(block.rows / step.rows.whole, in.outer)};
  if (in.continues_rows) return RunGathered(step, job, from + next.from / 8);
  const bool streams = step.context->streams;
  if (in.is_back) return streams ? in.functions.stream_deinterleaved(job) : in.functions.deinterleave(job);
  return streams ? in.functions.stream_interleaved(job) : in.functions.interleave(job);
}

void RunTask(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  switch (step.kernel) {
    case Kernel::kRows:
      return RunRows(step, block, from, to);
    case Kernel::kExchange:
      return RunExchange(step, block, from, to);
    case Kernel::kTails:
      return step.fills_words ? RunFilledWords(step, block, from, to) : RunPartOfWords(step, block, from, to);
    case Kernel::kInterleave:
      return RunInterleaving(step, block, next, from, to);
    case Kernel::kBlocks:
      return RunBlock(step, block, next, from, to);
    case Kernel::kConvert:
      return ConvertRun(step, step.context->convert, step.context->from.slot_bits, from, block.from, to, block.to,
                        block.columns);
    case Kernel::kConvertBlocks:
      return RunConvertBlock(step, block, next, from, to);
    case Kernel::kElements:
      return RunElements(step, block, from, to);
  }
}

}  // namespace

void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end) {
  if (begin >= end) return;
  GridWalk walk(step, begin);
  for (int64_t task = begin; task < end; ++task) {
    const Block block = walk.block();
    if (task + 1 < end) walk.Next();
    RunTask(step, block, walk.block(), from, to);
  }
  if (step.context->streams) StreamFence();
}

}  // namespace kashi
