// BlocksPlan::Run. Moves blocks of whole bytes whose rows become columns: directly into a target within the caches;
// through scratch memory, or line by line, into a streamed one.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/blocks.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/group_kernel.h"
#include "kashi/relayout/simd/prefetcher.h"
#include "kashi/relayout/simd/scratch.h"
#include "kashi/relayout/simd/shuffle_kernel.h"

namespace kashi::relayout {
namespace {

// The bytes of whole groups in memory, if the side has groups.
int64_t BytesInMemory(const Groups& groups, int64_t bytes) { return groups.any() ? groups.InMemory(bytes) : bytes; }

Prefetcher PrefetcherOf(const BlocksPlan& plan, const Task& task, int64_t portions) {
  const Offsets& rows = plan.rows;
  const Block& next = task.next;
  const int64_t bytes = BytesInMemory(task.context.from_groups, next.columns * plan.element_bytes);
  return Prefetcher({task.from + next.from / 8, rows.data(), next.rows, bytes, rows.stride, rows.stretch}, portions);
}

// The number of elements along an axis that can be moved at once as a dense block, with lines of `line_bytes`; 0 if
// that is not worth while: only narrow blocks have faster functions for it.
int64_t DenseStretch(const Offsets& axis, int64_t line_bytes) {
  return axis.stride == line_bytes && line_bytes <= 16 && axis.stretch * line_bytes >= 256 ? axis.stretch : 0;
}

// Straight into the target.
void RunCachedBlock(const BlocksPlan& plan, const Task& task) {
  const Block& block = task.block;
  const CacheModel::Level& l1 = task.context.caches.l1;
  const int64_t bytes = plan.element_bytes;
  const int64_t dense_rows = DenseStretch(plan.rows, block.columns * bytes);
  const int64_t dense_columns = DenseStretch(plan.columns, block.rows * bytes);
  const int64_t row_step = dense_rows > 0 ? dense_rows : block.rows;
  const int64_t column_step = dense_columns > 0 ? dense_columns : block.columns;
  for (int64_t r = 0; r < block.rows; r += row_step) {
    for (int64_t c = 0; c < block.columns; c += column_step) {
      const int64_t rows = std::min(row_step, block.rows - r), columns = std::min(column_step, block.columns - c);
      plan.Transpose({task.from + block.from / 8 + plan.rows[r] + c * bytes, plan.rows.data(), rows,
                      task.to + block.to / 8 + plan.columns[c] + r * bytes, plan.columns.data(), columns,
                      dense_rows > 0 && columns == block.columns, dense_columns > 0 && rows == block.rows,
                      plan.rows.collides || LinesCollide(l1, plan.rows.stride, rows),
                      plan.columns.collides || LinesCollide(l1, plan.columns.stride, columns)});
    }
  }
}

// Likewise, tile by tile of whole lines.
void RunLineTiles(const BlocksPlan& plan, const Task& task) {
  const Block& block = task.block;
  plan.line_tiles({task.from + block.from / 8, plan.rows.data(), block.rows, task.to + block.to / 8,
                   plan.columns.data(), block.columns, false, false},
                  plan.shuffle.empty() ? nullptr : plan.shuffle.data());
}

// Cache lines that blocks share are written by the first of them, whole: it has the rows that overhang for that.
bool SharesLines(const BlocksPlan& plan, const Task& task) {
  if (!task.context.streams() || task.grid.rows.overhang == 0) return false;
  return !plan.runs_fill_lines || reinterpret_cast<uintptr_t>(task.to + task.grid.to_offset / 8) % kCacheLine != 0;
}

// Long runs of the target, each by itself.
bool RunStreamedBlock(const BlocksPlan& plan, const Task& task) {
  const Block& block = task.block;
  const int64_t bytes = plan.element_bytes;
  if (plan.streamed_transpose == nullptr || block.rows * bytes < kCacheLine || block.columns * bytes < 16) return false;
  const bool shares_lines = SharesLines(plan, task);
  const StreamedBlock streamed = {
      task.from + block.from / 8, plan.rows.data(),    block.rows,    shares_lines ? block.overhang : 0,
      task.to + block.to / 8,     plan.columns.data(), block.columns, shares_lines && !block.is_first_of_rows};
  Prefetcher prefetcher = PrefetcherOf(plan, task, StreamedPortions(streamed, bytes));
  plan.streamed_transpose(streamed, Scratch::OfThread().Bytes(StreamedScratchBytes(bytes)), &prefetcher);
  return true;
}

// A group of columns of a block at a time, by way of scratch memory that stays in the first cache.
class ScratchBlock {
 public:
  ScratchBlock(const BlocksPlan& plan, const Task& task)
      : plan_(plan),
        context_(task.context),
        block_(task.block),
        from_(task.from + block_.from / 8),
        to_(task.to + block_.to / 8),
        bytes_(plan.element_bytes),
        shares_lines_(SharesLines(plan, task)),
        overhang_(shares_lines_ ? block_.overhang : 0),
        skips_head_(shares_lines_ && !block_.is_first_of_rows),
        rows_(block_.rows + overhang_),
        run_bytes_(BytesInMemory(context_.to_groups, block_.rows * bytes_)),
        beyond_(BytesInMemory(context_.to_groups, overhang_ * bytes_)),
        group_(GroupOf(block_.columns)),
        strip_(context_.has_groups() ? kExpandedRows : std::max<int64_t>(kStripRows, kStripBytes / (group_ * bytes_))),
        prefetcher_(PrefetcherOf(plan, task, Portions(block_.columns))) {}

  void Run() {
    const Groups &from_groups = context_.from_groups, &to_groups = context_.to_groups;
    const int64_t bytes = RoundUpTo(rows_ * group_ * bytes_, kCacheLine);
    scratch_ = Scratch::OfThread().Bytes(from_groups.any() ? bytes + strip_ * ExpandedPitch(group_) : bytes);
    expanded_ = scratch_ + bytes;
    for (int64_t column = 0; column < block_.columns; column += group_) {
      const int64_t columns = std::min(group_, block_.columns - column);
      if (context_.streams()) PrefetchPartialLines(column, columns);
      if (from_groups.any()) {
        TransposeExpanded(column, columns);
      } else {
        TransposeGroup(column, columns);
      }
      if (!plan_.shuffle.empty()) ShuffleElements(plan_.shuffle, scratch_, rows_ * columns * bytes_);
      if (to_groups.any()) context_.lanes.Pack(scratch_, rows_ * columns * bytes_ / to_groups.padded);
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
    const Groups& groups = context_.from_groups;
    if (groups.any()) line = RoundUpTo(line, std::lcm(groups.padded, bytes_) / bytes_);
    const int64_t bytes = context_.has_groups() ? kExpandedBytes : kGroupBytes;
    return std::min(columns, std::max(line, RoundDownTo(bytes / (rows_ * bytes_), line)));
  }

  // The portions of prefetching in a block.
  int64_t Portions(int64_t columns) const {
    return CeilOfRatio(columns, group_) * (CeilOfRatio(rows_, strip_) + group_ * rows_ * bytes_ / kStoreBytes);
  }

  // Lines of the target of which the group writes only a part must be read first, and all writes behind them wait for
  // that.
  void PrefetchPartialLines(int64_t column, int64_t columns) const {
    const int64_t dense = plan_.dense_columns;
    for (int64_t c = column, end = column + columns; c < end;) {
      const int64_t run = std::min(end - c, dense - c % dense);
      const char* const to = to_ + plan_.columns[c];
      const char* const to_end = to + run * run_bytes_;
      if (!skips_head_ && BytesToLine(to) > 0) __builtin_prefetch(to, 1);
      if (BytesToLine(to_end) > beyond_) __builtin_prefetch(to_end, 1);
      c += run;
    }
  }

  // A strip of rows at a time; dense ones do not cross the end of a stretch.
  void TransposeGroup(int64_t column, int64_t columns) {
    const int64_t* const offsets = plan_.rows.data();
    const int64_t stretch = DenseStretch(plan_.rows, columns * bytes_);
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(0, columns, rows_ * bytes_);
    for (int64_t row = 0; row < rows_;) {
      const int64_t rows = std::min({strip_, rows_ - row, stretch > 0 ? stretch - row % stretch : rows_});
      const char* const from = from_ + column * bytes_;
      plan_.Transpose({stretch > 0 ? from + offsets[row] : from, stretch > 0 ? offsets : offsets + row, rows,
                       scratch_ + row * bytes_, to_offsets, columns, stretch > 0, rows == rows_, plan_.rows.collides,
                       LinesCollide(context_.caches.l1, rows_ * bytes_, columns)});
      row += rows;
      prefetcher_.Portion();
    }
  }

  // Transposes rows whose groups are padded first.
  void TransposeExpanded(int64_t column, int64_t columns) {
    const Groups& groups = context_.from_groups;
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(0, columns, rows_ * bytes_);
    const int64_t* const expanded_offsets = Scratch::OfThread().Offsets(1, strip_, ExpandedPitch(columns));
    for (int64_t row = 0; row < rows_; row += strip_) {
      const int64_t rows = std::min(strip_, rows_ - row);
      context_.lanes.Expand(from_ + groups.InMemory(column * bytes_), plan_.rows.data() + row, rows,
                            columns * bytes_ / groups.padded, expanded_, ExpandedPitch(columns));
      plan_.Transpose({expanded_, expanded_offsets, rows, scratch_ + row * bytes_, to_offsets, columns, false,
                       rows == rows_, false, LinesCollide(context_.caches.l1, rows_ * bytes_, columns)});
      prefetcher_.Portion();
    }
  }
  int64_t ExpandedPitch(int64_t columns) const { return RoundUpTo<int64_t>(columns * bytes_, 16); }

  void StoreGroup(int64_t column, int64_t columns) {
    const int64_t dense = plan_.dense_columns, pitch = run_bytes_ + beyond_;
    for (int64_t c = 0; c < columns;) {
      const int64_t run = std::min(columns - c, dense - (column + c) % dense);
      if (run > 1 || run_bytes_ > kStoreBytes) {
        StoreRun(to_ + plan_.columns[column + c], scratch_ + c * pitch, run * run_bytes_);
        c += run;
      } else {
        c += StoreShortRuns(column + c, columns - c, scratch_ + c * pitch);
      }
    }
  }

  // Some of the columns from `column` on; returns how many.
  int64_t StoreShortRuns(int64_t column, int64_t columns, const char* from) {
    const Offsets& axis = plan_.columns;
    const int64_t count = std::min({columns, kStoreBytes / run_bytes_, axis.stretch - column % axis.stretch});
    const RowCopy copy = {from, run_bytes_ + beyond_, to_ + axis[column], axis.stride, count, run_bytes_};
    if (context_.streams()) {
      StreamLinesOfRows(copy, skips_head_, beyond_);
    } else {
      CopyRows(copy);
    }
    prefetcher_.Portion();
    return count;
  }

  // Stores a run in pieces that end with a cache line.
  void StoreRun(char* to, const char* from, int64_t bytes) {
    int64_t at = skips_head_ ? BytesToLine(to) : 0;
    const int64_t end = bytes + std::min(BytesToLine(to + bytes), beyond_);
    while (at < end) {
      const int64_t piece = std::min(end - at, kStoreBytes + BytesToLine(to + at));
      if (context_.streams()) {
        StreamCopy(to + at, from + at, piece);
      } else {
        CopyRow(to + at, from + at, piece);
      }
      prefetcher_.Portion();
      at += piece;
    }
  }

  static int64_t BytesToLine(const char* p) { return -reinterpret_cast<uintptr_t>(p) % kCacheLine; }

  const BlocksPlan& plan_;
  const PlanContext& context_;
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

void BlocksPlan::Run(const Task& task) const {
  const bool streams = task.context.streams();
  if (streams && RunStreamedBlock(*this, task)) return;
  if (line_tiles != nullptr) return RunLineTiles(*this, task);
  if (streams || task.context.has_groups() || !shuffle.empty()) {
    ScratchBlock(*this, task).Run();
  } else {
    RunCachedBlock(*this, task);
  }
}

}  // namespace kashi::relayout
