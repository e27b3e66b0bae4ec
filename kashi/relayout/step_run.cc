// Entry point: RunStep. A walk over the grid of blocks; for each, the kernel of the step.
#include <cstring>
#include <memory>
#include <vector>

#include "kashi/base/math.h"
#include "kashi/relayout/copy_rows.h"
#include "kashi/relayout/nibble_kernel.h"
#include "kashi/relayout/shuffle_kernel.h"
#include "kashi/relayout/step.h"

namespace kashi {
namespace {

constexpr int64_t kCacheLine = 64;

// Memory of a thread for one block at a time.
class Scratch {
 public:
  static Scratch& OfThread() {
    thread_local Scratch scratch;
    return scratch;
  }

  // Good until the next call. 64-byte aligned.
  char* Bytes(int64_t bytes) {
    if (bytes > bytes_) {
      bytes_ = bytes + bytes / 2;
      memory_ = std::make_unique<char[]>(bytes_ + 64);
    }
    return reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(memory_.get()) + 63) / 64 * 64);
  }

  // 0, stride, 2*stride, … of the rows of a dense block. Good until the next call with the same `which`.
  const int64_t* Offsets(int which, int64_t count, int64_t stride) {
    std::vector<int64_t>& offsets = offsets_[which];
    if (offsets.size() < 2 || offsets[1] != stride) offsets.clear();
    for (int64_t i = offsets.size(); i < std::max<int64_t>(2, count); ++i) offsets.push_back(i * stride);
    return offsets.data();
  }

 private:
  std::unique_ptr<char[]> memory_;
  int64_t bytes_ = 0;
  std::vector<int64_t> offsets_[2];
};

// A block: where it begins (bits), and its sizes.
struct Block {
  int64_t from;
  int64_t to;
  int64_t rows;
  int64_t columns;
  int64_t overhang;  // rows that follow in the same run of the target, and have offsets
  bool is_first_of_rows;
  int64_t columns_before;  // of the axis
};

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

void Transpose(const TransposeBlock& block, const Step& step) {
  if (step.transpose != nullptr) return step.transpose(block);
  const int64_t bytes = step.element_bytes;
  for (int64_t c = 0; c < block.columns; ++c) {
    for (int64_t r = 0; r < block.rows; ++r) {
      std::memcpy(block.to + block.to_offsets[c] + r * bytes, block.from + block.from_offsets[r] + c * bytes, bytes);
    }
  }
}

// Asks for the source of the next block, line by line, while this one is worked on.
class Prefetcher {
 public:
  // The source is asked for in `portions` equal portions.
  Prefetcher(const Step& step, const Block& next, const char* from, int64_t portions)
      : offsets_(step.rows.offsets.data()), from_(from + next.from / 8), rows_(next.rows) {
    piece_bytes_ = next.columns * step.element_bytes;
    if (step.rows.stride == piece_bytes_) {  // rows of a stretch follow one another
      piece_rows_ = step.rows.stretch;
      piece_bytes_ *= piece_rows_;
    }
    portion_ = CeilOfRatio(CeilOfRatio(rows_, piece_rows_) * CeilOfRatio(piece_bytes_, kCacheLine),
                           std::max<int64_t>(1, portions));
  }

  void Portion() {
    if (row_ >= rows_) return;
    for (int64_t left = portion_; left > 0; --left) {
      __builtin_prefetch(from_ + offsets_[row_] + at_);
      if ((at_ += kCacheLine) < piece_bytes_) continue;
      at_ = 0;
      if ((row_ += piece_rows_) >= rows_) return;
    }
  }

 private:
  const int64_t* offsets_;
  const char* from_;
  int64_t rows_;
  int64_t piece_rows_ = 1;  // that are contiguous in the source
  int64_t piece_bytes_;
  int64_t portion_;  // lines
  int64_t row_ = 0;
  int64_t at_ = 0;
};

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
        group_(GroupOf(block.columns)),
        strip_(std::max<int64_t>(kStripRows, kStripBytes / (group_ * bytes_))),
        prefetcher_(step, next, from, Portions(block.columns)) {}

  void Run() {
    scratch_ = Scratch::OfThread().Bytes(rows_ * group_ * bytes_);
    for (int64_t column = 0; column < block_.columns; column += group_) {
      const int64_t columns = std::min(group_, block_.columns - column);
      if (step_.context->streams) AskForPartialLines(column, columns);
      TransposeGroup(column, columns);
      if (!step_.shuffle.empty()) ShuffleElements(step_.shuffle, scratch_, rows_ * columns * bytes_);
      StoreGroup(column, columns);
    }
  }

 private:
  static constexpr int64_t kGroupBytes = 4096;  // of narrow blocks
  static constexpr int64_t kStripRows = 64;
  static constexpr int64_t kStripBytes = 4096;
  static constexpr int64_t kStoreBytes = 1024;  // between two portions of prefetching

  // Cache lines that blocks share are written by the first of them, whole: it has the rows that overhang for that.
  static bool SharesLines(const Step& step, const char* to) {
    if (!step.context->streams || step.rows.overhang == 0) return false;
    return !step.runs_fill_lines || reinterpret_cast<uintptr_t>(to + step.to_offset / 8) % kCacheLine != 0;
  }

  // A cache line of columns, or more of them if they are short.
  int64_t GroupOf(int64_t columns) const {
    const int64_t line = std::max<int64_t>(1, kCacheLine / bytes_);
    return std::min(columns, std::max(line, RoundDownTo(kGroupBytes / (rows_ * bytes_), line)));
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
      const char* const to_end = to + run * block_.rows * bytes_;
      if (!skips_head_ && BytesToLine(to) > 0) __builtin_prefetch(to, 1);
      if (BytesToLine(to_end) > overhang_ * bytes_) __builtin_prefetch(to_end, 1);
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

  void StoreGroup(int64_t column, int64_t columns) {
    const int64_t dense = step_.dense_columns;
    for (int64_t c = 0; c < columns;) {
      const int64_t run = std::min(columns - c, dense - (column + c) % dense);
      if (run > 1 || block_.rows * bytes_ > kStoreBytes) {
        StoreRun(to_ + step_.columns.offsets[column + c], scratch_ + c * rows_ * bytes_, run * block_.rows * bytes_);
        c += run;
      } else {
        c += StoreShortRuns(column + c, columns - c, scratch_ + c * rows_ * bytes_);
      }
    }
  }

  // Some of the columns from `column` on; returns how many.
  int64_t StoreShortRuns(int64_t column, int64_t columns, const char* from) {
    const Axis& axis = step_.columns;
    const int64_t bytes = block_.rows * bytes_;
    const int64_t count = std::min({columns, kStoreBytes / bytes, axis.stretch - column % axis.stretch});
    const RowCopy copy = {from, rows_ * bytes_, to_ + axis.offsets[column], axis.stride, count, bytes};
    if (step_.context->streams) {
      StreamLinesOfRows(copy, skips_head_, overhang_ * bytes_);
    } else {
      CopyRows(copy);
    }
    prefetcher_.Portion();
    return count;
  }

  // In pieces that end with a line.
  void StoreRun(char* to, const char* from, int64_t bytes) {
    int64_t at = skips_head_ ? BytesToLine(to) : 0;
    const int64_t end = bytes + std::min(BytesToLine(to + bytes), overhang_ * bytes_);
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
  int64_t rows_;   // with overhang
  int64_t group_;  // columns
  int64_t strip_;  // rows
  Prefetcher prefetcher_;
  char* scratch_ = nullptr;
};

void RunBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  if (step.context->streams || !step.shuffle.empty()) {
    ScratchBlock(step, block, next, from, to).Run();
  } else {
    RunCachedBlock(step, block, from, to);
  }
}

// Row functions count bits from an address upwards; where a side has negative strides, its bits are counted downwards.
void CallRowFunction(const RowFunction& function, const char* from, int64_t from_bit, char* to, int64_t to_bit,
                     int64_t count) {
  function(from + (from_bit >> 3), from_bit & 7, to + (to_bit >> 3), to_bit & 7, count);
}

// A run of the target that changes its form on the way: past the caches by way of a buffer that stays in the first one.
void ConvertRun(const Step& step, const RowFunction& function, int64_t slot_bits, const char* from, int64_t from_bit,
                char* to, int64_t to_bit, int64_t count) {
  constexpr int64_t kPortion = 4096;  // elements
  const int64_t to_bits = step.context->to.slot_bits;
  if (!step.context->streams || (to_bit | count * to_bits) % 8 != 0) {
    return CallRowFunction(function, from, from_bit, to, to_bit, count);
  }
  alignas(64) char buffer[kPortion * 16];
  for (int64_t i = 0; i < count; i += kPortion) {
    const int64_t portion = std::min(kPortion, count - i);
    CallRowFunction(function, from, from_bit + i * slot_bits, buffer, 0, portion);
    StreamCopy(to + (to_bit + i * to_bits) / 8, buffer, portion * to_bits / 8);
  }
}

//   source rows -> in -> scratch [rows][columns] -> transpose -> scratch [columns][rows] -> out -> target
void RunConvertBlock(const Step& step, const Block& block, const char* from, char* to) {
  const int64_t bytes = step.element_bytes, elements = block.rows * block.columns;
  Scratch& scratch = Scratch::OfThread();
  char* const as_source = scratch.Bytes(2 * elements * bytes + 64);
  char* const as_target = as_source + elements * bytes;
  const int64_t rows_at_once = step.rows.stride == block.columns * step.context->from.slot_bits ? step.rows.stretch : 1;
  for (int64_t r = 0; r < block.rows; r += rows_at_once) {
    CallRowFunction(step.context->in, from, block.from + step.rows.offsets[r], as_source + r * block.columns * bytes, 0,
                    std::min(rows_at_once, block.rows - r) * block.columns);
  }
  Transpose({as_source, scratch.Offsets(0, block.rows, block.columns * bytes), block.rows, as_target,
             scratch.Offsets(1, block.columns, block.rows * bytes), block.columns, true, true,
             LinesCollide(block.columns * bytes, block.rows), LinesCollide(block.rows * bytes, block.columns)},
            step);
  const int64_t run = std::min(step.dense_columns, block.columns);
  for (int64_t c = 0; c < block.columns; c += run) {
    ConvertRun(step, step.context->out, step.context->scratch.slot_bits, as_target + c * block.rows * bytes, 0, to,
               block.to + step.columns.offsets[c], std::min(run, block.columns - c) * block.rows);
  }
}

// Whether a block may go by way of bytes of two columns each.
bool IsNibbleBlock(const Step& step, const Block& block) {
  return step.context->moves_nibbles && block.rows % 2 == 0 && CanSplitNibbles(block.rows);
}

// A block of bytes, each of two columns, to dense columns: to[c*rows + r] = byte c of row r.
class NibblePairs {
 public:
  NibblePairs(const Step& step, const Block& block, const char* from)
      : step_(step), block_(block), from_(from), pairs_(CeilOfRatio<int64_t>(block.columns, 2)) {
    const bool is_dense = block.columns % 2 == 0 && step.rows.stride == block.columns * 4;
    stretch_ = is_dense ? step.rows.stretch : 1;
  }

  // `gathered` is room for a block.
  void Transpose(char* gathered, char* to) const {
    const bool has_bytes = !step_.row_bytes.empty() && block_.from % 8 == 0;
    if (has_bytes && stretch_ > 1 && stretch_ * pairs_ >= 256) return TransposeStretches(to);
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(1, pairs_, block_.rows);
    if (has_bytes && pairs_ > 16) {
      step_.transpose({from_ + block_.from / 8, step_.row_bytes.data(), block_.rows, to, to_offsets, pairs_, false,
                       true, step_.rows.collides, LinesCollide(block_.rows, pairs_)});
      return;
    }
    Gather(gathered);
    step_.transpose({gathered, Scratch::OfThread().Offsets(0, block_.rows, pairs_), block_.rows, to, to_offsets, pairs_,
                     true, true, LinesCollide(pairs_, block_.rows), LinesCollide(block_.rows, pairs_)});
  }

 private:
  // Rows that follow one another in the source.
  void TransposeStretches(char* to) const {
    Scratch& scratch = Scratch::OfThread();
    const int64_t* const to_offsets = scratch.Offsets(1, pairs_, block_.rows);
    for (int64_t r = 0; r < block_.rows; r += stretch_) {
      const int64_t rows = std::min(stretch_, block_.rows - r);
      step_.transpose({from_ + block_.from / 8 + step_.row_bytes[r], scratch.Offsets(0, rows, pairs_), rows, to + r,
                       to_offsets, pairs_, true, false, LinesCollide(pairs_, rows), LinesCollide(block_.rows, pairs_)});
    }
  }

  // Rows close to one another, each beginning with a byte.
  void Gather(char* to) const {
    for (int64_t r = 0; r < block_.rows; r += stretch_) {
      CallRowFunction(step_.context->convert, from_, block_.from + step_.rows.offsets[r], to + r * pairs_, 0,
                      std::min(stretch_, block_.rows - r) * block_.columns);
    }
  }

  const Step& step_;
  const Block& block_;
  const char* from_;
  int64_t pairs_;
  int64_t stretch_;  // rows
};

// Straight into the target, if that stays in the caches and columns come in pairs that begin with a byte.
bool SplitIntoTarget(const Step& step, const Block& block, const char* transposed, char* to) {
  if (step.context->streams || block.columns % 2 != 0) return false;
  const auto byte_of = [&](int64_t c) { return to + (block.to + step.columns.offsets[c]) / 8; };
  if (step.dense_columns >= block.columns) {
    if (block.to % 8 != 0) return false;
    SplitNibbles(transposed, block.rows, block.columns / 2, byte_of(0));
    return true;
  }
  if (step.dense_columns > 1 || block.to % 8 != 0 || !step.runs_fill_bytes || block.rows == 8) return false;
  for (int64_t c = 0; c < block.columns; c += 2) {
    SplitNibbleGroup(transposed + c / 2 * block.rows, block.rows, byte_of(c), byte_of(c + 1));
  }
  return true;
}

// Elements of 4 bits, with the two of each byte of the source as one, until they are where their neighbours are:
//
//   source, two columns a byte [rows][columns/2] -> transpose [columns/2][rows] -> split [columns][rows/2] -> target
void RunNibbleBlock(const Step& step, const Block& block, const char* from, char* to) {
  const int64_t pairs = CeilOfRatio<int64_t>(block.columns, 2), bytes = RoundUpTo(block.rows * pairs, kCacheLine);
  char* const gathered = Scratch::OfThread().Bytes(2 * bytes);
  char* const transposed = gathered + bytes;
  NibblePairs(step, block, from).Transpose(gathered, transposed);
  if (SplitIntoTarget(step, block, transposed, to)) return;
  SplitNibbles(transposed, block.rows, pairs, gathered);
  const int64_t run = std::min(step.dense_columns, block.columns);
  for (int64_t c = 0; c < block.columns; c += run) {
    const int64_t to_bit = block.to + step.columns.offsets[c], count = std::min(run, block.columns - c) * block.rows;
    if (step.context->streams && to_bit % 8 == 0) {  // count is even
      StreamCopy(to + to_bit / 8, gathered + c * block.rows / 2, count / 2);
    } else {
      CallRowFunction(step.context->convert, gathered + c * block.rows / 2, 0, to, to_bit, count);
    }
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
    case Kernel::kInterleave:
      return RunInterleaving(step, block, next, from, to);
    case Kernel::kBlocks:
      return RunBlock(step, block, next, from, to);
    case Kernel::kConvert:
      return ConvertRun(step, step.context->convert, step.context->from.slot_bits, from, block.from, to, block.to,
                        block.columns);
    case Kernel::kConvertBlocks:
      return IsNibbleBlock(step, block) ? RunNibbleBlock(step, block, from, to)
                                        : RunConvertBlock(step, block, from, to);
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
