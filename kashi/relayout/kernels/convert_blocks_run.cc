// ConvertBlocksPlan::Run: by way of elements of whole bytes, or of the two elements of 4 bits of each byte as one.
#include <algorithm>
#include <cstdint>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/convert.h"
#include "kashi/relayout/kernels/convert_blocks.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/nibble_kernel.h"
#include "kashi/relayout/simd/scratch.h"

namespace kashi::relayout {
namespace {

//   source rows -> in -> scratch [rows][columns] -> transpose -> scratch [columns][rows] -> out -> target
void RunBytesBlock(const ConvertBlocksPlan& plan, const Task& task) {
  const PlanContext& context = task.context;
  const CacheModel::Level& l1 = context.caches.l1;
  const Block& block = task.block;
  const int64_t bytes = plan.element_bytes, elements = block.rows * block.columns;
  Scratch& scratch = Scratch::OfThread();
  char* const as_source = scratch.Bytes(2 * elements * bytes + 64);
  char* const as_target = as_source + elements * bytes;
  const int64_t rows_at_once = plan.rows.stride == block.columns * context.from.slot_bits ? plan.rows.stretch : 1;
  for (int64_t r = 0; r < block.rows; r += rows_at_once) {
    CallRowFunction(context.in, task.from, block.from + plan.rows[r], as_source + r * block.columns * bytes, 0,
                    std::min(rows_at_once, block.rows - r) * block.columns);
  }
  plan.transpose({as_source, scratch.Offsets(0, block.rows, block.columns * bytes), block.rows, as_target,
                  scratch.Offsets(1, block.columns, block.rows * bytes), block.columns, true, true,
                  LinesCollide(l1, block.columns * bytes, block.rows),
                  LinesCollide(l1, block.rows * bytes, block.columns)});
  const int64_t run = std::min(plan.dense_columns, block.columns);
  for (int64_t c = 0; c < block.columns; c += run) {
    ConvertRun(context, context.out, context.scratch.slot_bits, as_target + c * block.rows * bytes, 0, task.to,
               block.to + plan.columns[c], std::min(run, block.columns - c) * block.rows);
  }
}

// Whether a block may go by way of bytes of two columns each.
bool IsNibbleBlock(const PlanContext& context, const Block& block) {
  return context.moves_nibbles && block.rows % 2 == 0 && CanSplitNibbles(block.rows);
}

// A block of bytes, each of two columns, to dense columns: to[c*rows + r] = byte c of row r.
class NibblePairs {
 public:
  NibblePairs(const ConvertBlocksPlan& plan, const Task& task)
      : plan_(plan),
        context_(task.context),
        block_(task.block),
        from_(task.from),
        pairs_(CeilOfRatio<int64_t>(block_.columns, 2)) {
    const bool is_dense = block_.columns % 2 == 0 && plan.rows.stride == block_.columns * 4;
    stretch_ = is_dense ? plan.rows.stretch : 1;
  }

  // `gathered` is room for a block.
  void Transpose(char* gathered, char* to) const {
    const bool has_bytes = !plan_.row_bytes.empty() && block_.from % 8 == 0;
    if (has_bytes && stretch_ > 1 && stretch_ * pairs_ >= 256) return TransposeStretches(to);
    const int64_t* const to_offsets = Scratch::OfThread().Offsets(1, pairs_, block_.rows);
    if (has_bytes && pairs_ > 16) {
      plan_.transpose({from_ + block_.from / 8, plan_.row_bytes.data(), block_.rows, to, to_offsets, pairs_, false,
                       true, plan_.rows.collides, Collides(block_.rows, pairs_)});
      return;
    }
    Gather(gathered);
    plan_.transpose({gathered, Scratch::OfThread().Offsets(0, block_.rows, pairs_), block_.rows, to, to_offsets, pairs_,
                     true, true, Collides(pairs_, block_.rows), Collides(block_.rows, pairs_)});
  }

 private:
  // Rows that follow one another in the source.
  void TransposeStretches(char* to) const {
    Scratch& scratch = Scratch::OfThread();
    const int64_t* const to_offsets = scratch.Offsets(1, pairs_, block_.rows);
    for (int64_t r = 0; r < block_.rows; r += stretch_) {
      const int64_t rows = std::min(stretch_, block_.rows - r);
      plan_.transpose({from_ + block_.from / 8 + plan_.row_bytes[r], scratch.Offsets(0, rows, pairs_), rows, to + r,
                       to_offsets, pairs_, true, false, Collides(pairs_, rows), Collides(block_.rows, pairs_)});
    }
  }

  // Rows close to one another, each beginning with a byte.
  void Gather(char* to) const {
    for (int64_t r = 0; r < block_.rows; r += stretch_) {
      CallRowFunction(context_.convert, from_, block_.from + plan_.rows[r], to + r * pairs_, 0,
                      std::min(stretch_, block_.rows - r) * block_.columns);
    }
  }

  bool Collides(int64_t pitch, int64_t count) const { return LinesCollide(context_.caches.l1, pitch, count); }

  const ConvertBlocksPlan& plan_;
  const PlanContext& context_;
  const Block& block_;
  const char* from_;
  int64_t pairs_;
  int64_t stretch_;  // rows
};

// Straight into the target, if that stays in the caches and columns come in pairs that begin with a byte.
bool SplitIntoTarget(const ConvertBlocksPlan& plan, const Task& task, const char* transposed) {
  const Block& block = task.block;
  if (task.context.streams() || block.columns % 2 != 0) return false;
  const auto byte_of = [&](int64_t c) { return task.to + (block.to + plan.columns[c]) / 8; };
  if (plan.dense_columns >= block.columns) {
    if (block.to % 8 != 0) return false;
    SplitNibbles(transposed, block.rows, block.columns / 2, byte_of(0));
    return true;
  }
  if (plan.dense_columns > 1 || block.to % 8 != 0 || !plan.runs_fill_bytes || block.rows == 8) return false;
  for (int64_t c = 0; c < block.columns; c += 2) {
    SplitNibbleGroup(transposed + c / 2 * block.rows, block.rows, byte_of(c), byte_of(c + 1));
  }
  return true;
}

// Elements of 4 bits, with the two of each byte of the source as one, until they are where their neighbours are:
//
//   source, two columns a byte [rows][columns/2] -> transpose [columns/2][rows] -> split [columns][rows/2] -> target
void RunNibbleBlock(const ConvertBlocksPlan& plan, const Task& task) {
  const Block& block = task.block;
  const int64_t pairs = CeilOfRatio<int64_t>(block.columns, 2), bytes = RoundUpTo(block.rows * pairs, kCacheLine);
  char* const gathered = Scratch::OfThread().Bytes(2 * bytes);
  char* const transposed = gathered + bytes;
  NibblePairs(plan, task).Transpose(gathered, transposed);
  if (SplitIntoTarget(plan, task, transposed)) return;
  SplitNibbles(transposed, block.rows, pairs, gathered);
  const int64_t run = std::min(plan.dense_columns, block.columns);
  for (int64_t c = 0; c < block.columns; c += run) {
    const int64_t to_bit = block.to + plan.columns[c], count = std::min(run, block.columns - c) * block.rows;
    if (task.context.streams() && to_bit % 8 == 0) {  // count is even
      StreamCopy(task.to + to_bit / 8, gathered + c * block.rows / 2, count / 2);
    } else {
      CallRowFunction(task.context.convert, gathered + c * block.rows / 2, 0, task.to, to_bit, count);
    }
  }
}

}  // namespace

void ConvertBlocksPlan::Run(const Task& task) const {
  if (words != NibbleWords::kNone) return RunNibbleWords(*this, task);
  if (IsNibbleBlock(task.context, task.block)) return RunNibbleBlock(*this, task);
  RunBytesBlock(*this, task);
}

}  // namespace kashi::relayout
