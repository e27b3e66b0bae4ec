// Entry point: RunBlock. Blocks of whole bytes whose rows become columns: straight into the target within the caches, by way of
// scratch memory, or line by line, past them.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/kernels/group_kernel.h"
#include "kashi/relayout/kernels/line_tiles.h"
#include "kashi/relayout/kernels/shuffle_kernel.h"
#include "kashi/relayout/kernels/streamed_transpose.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/run/prefetcher.h"
#include "kashi/relayout/run/run_block.h"

namespace kashi::internal {
namespace {

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

// Likewise, tile by tile of whole lines.
void RunLineTiles(const Step& step, const Block& block, const char* from, char* to) {
  step.line_tiles({from + block.from / 8, step.rows.offsets.data(), block.rows, to + block.to / 8,
                   step.columns.offsets.data(), block.columns, false, false},
                  step.shuffle.empty() ? nullptr : step.shuffle.data());
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

}  // namespace

void RunBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  if (step.context->streams && RunStreamedBlock(step, block, next, from, to)) return;
  if (step.line_tiles != nullptr) return RunLineTiles(step, block, from, to);
  if (step.context->streams || step.context->has_groups() || !step.shuffle.empty()) {
    ScratchBlock(step, block, next, from, to).Run();
  } else {
    RunCachedBlock(step, block, from, to);
  }
}

}  // namespace kashi::internal
