// Entry points: ConvertRun, RunConvertBlock. Elements that change their form, and elements that are no whole bytes.
#include <algorithm>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/kernels/nibble_kernel.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/run/run_block.h"

namespace kashi::internal {

// Past the caches by way of a buffer that stays in the first one.
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

namespace {

//   source rows -> in -> scratch [rows][columns] -> transpose -> scratch [columns][rows] -> out -> target
void RunBytesBlock(const Step& step, const Block& block, const char* from, char* to) {
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

}  // namespace

void RunConvertBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to) {
  if (step.words != Words::kNone) return RunWordBlock(step, block, next, from, to);
  if (IsNibbleBlock(step, block)) return RunNibbleBlock(step, block, from, to);
  RunBytesBlock(step, block, from, to);
}

}  // namespace kashi::internal
