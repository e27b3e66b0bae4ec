// RunNibbleWords. Blocks of elements of 4 bits of which one side has words:
//
//   8 rows, of many columns      -> interleave ->      words of the target, in runs
//   words of the source          -> deinterleave ->    8 runs of the target, of many rows
//
// Fewer than 8 are moved in the same way; the other elements of the words are read and made in vain.
#include <algorithm>
#include <cstring>

#include "kashi/base/math.h"
#include "kashi/relayout/kernels/convert_blocks.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/nibble_words.h"
#include "kashi/relayout/simd/scratch.h"

namespace kashi::relayout {
namespace {

// Words between two portions of prefetching; the last piece may have up to twice as many.
constexpr int64_t kPiece = 256;

int64_t PieceOf(int64_t words) { return words < 2 * kPiece ? words : kPiece; }

constexpr int64_t kNoBits = 0;
NibbleWordRuns OneRun(int64_t words) { return {&kNoBits, words, words}; }

// Words of an axis that follow one another.
int64_t RunOfWords(const Offsets& axis) { return axis.stride == kNibbleWordBits ? axis.stretch : 1; }

// Asks for the source of the next block, line by line, while this one is worked on.
class NextSource {
 public:
  NextSource(const ConvertBlocksPlan& plan, const Task& task, int64_t portions)
      : offsets_(plan.rows.data()), from_(task.from), begin_(task.next.from), rows_(task.next.rows) {
    int64_t bits = task.next.columns * task.context.from.slot_bits;
    if (plan.rows.stride == bits) {  // rows of a stretch follow one another
      rows_at_once_ = plan.rows.stretch;
      bits *= rows_at_once_;
    }
    lines_ = CeilOfRatio(bits, 8 * kCacheLine);
    // A short piece that follows another is found by the processor itself.
    if (rows_at_once_ >= rows_ && lines_ < kLongPiece) return;
    portion_ = CeilOfRatio(CeilOfRatio(rows_, rows_at_once_) * lines_, portions);
  }

  void Portion() {
    for (int64_t left = portion_, lines; left > 0 && row_ < rows_; left -= lines) {
      lines = std::min(left, lines_ - line_);
      const char* const piece = from_ + ((begin_ + offsets_[row_]) >> 3) + line_ * kCacheLine;
      for (int64_t i = 0; i < lines; ++i) __builtin_prefetch(piece + i * kCacheLine);
      line_ += lines;
      if (line_ < lines_) return;
      line_ = 0;
      row_ += rows_at_once_;
    }
  }

 private:
  static constexpr int64_t kLongPiece = 16;  // lines: eight rows of 128 bytes, which are not read in order

  const int64_t* offsets_;
  const char* from_;
  int64_t begin_;  // bits
  int64_t rows_;
  int64_t rows_at_once_ = 1;
  int64_t lines_;        // of `rows` rows
  int64_t portion_ = 0;  // lines
  int64_t row_ = 0;
  int64_t line_ = 0;
};

// Lines of the target of which a run is only a part must be read first, and all writes behind them wait for that.
void PrefetchEnds(const char* to, int64_t bytes) {
  if (reinterpret_cast<uintptr_t>(to) % kCacheLine != 0) __builtin_prefetch(to, 1);
  if (reinterpret_cast<uintptr_t>(to + bytes) % kCacheLine != 0) __builtin_prefetch(to + bytes - 1, 1);
}

// ---- Words of the target

// The lowest elements of words, as many as a block has rows.
template <int kWholeBytes>
void StorePartsOfWords(const char* from, int64_t words, bool has_half, char* to) {
  for (int64_t i = 0; i < words; ++i, from += kNibbleWordBytes, to += kNibbleWordBytes) {
    std::memcpy(to, from, kWholeBytes);
    if (has_half) to[kWholeBytes] = static_cast<char>((to[kWholeBytes] & 0xf0) | (from[kWholeBytes] & 0x0f));
  }
}

void StorePartsOfWords(const char* from, int64_t words, int64_t elements, char* to) {
  const bool has_half = elements % 2 != 0;
  switch (elements / 2) {
    case 0:
      return StorePartsOfWords<0>(from, words, has_half, to);
    case 1:
      return StorePartsOfWords<1>(from, words, has_half, to);
    case 2:
      return StorePartsOfWords<2>(from, words, has_half, to);
    default:
      return StorePartsOfWords<3>(from, words, has_half, to);
  }
}

class Interleaver {
 public:
  Interleaver(const ConvertBlocksPlan& plan, const Task& task)
      : plan_(plan),
        context_(task.context),
        block_(task.block),
        from_(task.from),
        to_(task.to),
        run_(RunOfWords(plan.columns)) {
    for (int64_t r = 0; r < kNibbleRows; ++r) {
      // Rows that the block lacks: others that begin alike within their bytes.
      const int64_t row = r < block_.rows ? r : std::min(r % 2, block_.rows - 1);
      row_bits_[r] = block_.from + plan.rows[row];
    }
  }

  void Run(NextSource next) {
    const bool streams = context_.streams();
    const bool is_straight = !streams && block_.rows == kNibbleRows && (run_ >= block_.columns || run_ % 2 == 0);
    if (is_straight) return Interleave(0, {plan_.columns.data(), run_, block_.columns}, TargetOf(0));
    char* const scratch = Scratch::OfThread().Bytes(block_.columns * kNibbleWordBytes);
    for (int64_t c = 0, words; c < block_.columns; c += words) {
      words = streams ? PieceOf(block_.columns - c) : block_.columns;
      Interleave(c, OneRun(words), scratch + c * kNibbleWordBytes);
      if (streams) next.Portion();
    }
    Store(scratch);
  }

 private:
  int64_t RunFrom(int64_t column) const { return std::min(run_ - column % run_, block_.columns - column); }
  char* TargetOf(int64_t column) const { return to_ + (block_.to + plan_.columns[column]) / 8; }

  void Interleave(int64_t column, const NibbleWordRuns& words, char* to) const {
    const int64_t slot_bits = context_.from.slot_bits;
    int64_t bits[kNibbleRows];
    for (int64_t r = 0; r < kNibbleRows; ++r) bits[r] = row_bits_[r] + column * slot_bits;
    slot_bits == 8 ? InterleaveNibbleBytes(from_, bits, words, to) : InterleaveNibbles(from_, bits, words, to);
  }

  void Store(const char* words) const {
    for (int64_t c = 0, run; c < block_.columns; c += run) {
      run = RunFrom(c);
      const char* const from = words + c * kNibbleWordBytes;
      if (block_.rows < kNibbleRows) {
        StorePartsOfWords(from, run, block_.rows, TargetOf(c));
      } else if (run == 1) {
        std::memcpy(TargetOf(c), from, kNibbleWordBytes);
      } else if (context_.streams()) {
        StreamCopy(TargetOf(c), from, run * kNibbleWordBytes);
      } else {
        CopyRow(TargetOf(c), from, run * kNibbleWordBytes);
      }
    }
  }

  const ConvertBlocksPlan& plan_;
  const PlanContext& context_;
  const Block& block_;
  const char* from_;
  char* to_;
  int64_t run_;  // words that follow one another in the target
  int64_t row_bits_[kNibbleRows];
};

// ---- Words of the source

// Columns become runs of the image: the target, or scratch memory for a part of it that is then written with
// non-temporal stores. A run that begins within a byte of the image is made beside it first.
class Deinterleaver {
 public:
  Deinterleaver(const ConvertBlocksPlan& plan, const Task& task)
      : plan_(plan),
        context_(task.context),
        block_(task.block),
        from_(task.from),
        to_(task.to),
        streams_(context_.streams()),
        is_dense_(plan.dense_columns >= block_.columns),
        run_(RunOfWords(plan.rows)),
        slot_bits_(context_.to.slot_bits),
        run_bits_(block_.rows * slot_bits_),
        beside_bytes_(RoundUpTo(run_bits_, 8 * kCacheLine) / 8) {}

  void Run(NextSource next) {
    MakeRoom();
    const bool gathers = block_.columns < kNibbleRows || (run_ < block_.rows && (run_ < kShortRun || run_ % 2 != 0));
    if (gathers) GatherWords();
    if (streams_ && is_dense_) PrefetchEnds(to_ + (block_.to >> 3), (block_.columns * run_bits_) / 8);
    for (int64_t r = 0, words; r < block_.rows; r += words) {
      words = gathers ? block_.rows : PieceFrom(r);
      if (gathers) {
        Deinterleave(gathered_, OneRun(words), r);
      } else {
        Deinterleave(from_ + block_.from / 8, {plan_.rows.data() + r, run_, words}, r);
      }
      if (streams_) next.Portion();
    }
    PutBesideRunsInPlace();
    if (streams_) Store();
  }

 private:
  static constexpr int64_t kShortRun = 64;  // of words: vectors would not be full

  // Whole runs or a part of one.
  int64_t PieceFrom(int64_t row) const {
    const int64_t left = block_.rows - row;
    if (!streams_) return left;
    return run_ < kPiece ? std::min(left, RoundDownTo(kPiece, run_)) : PieceOf(std::min(left, run_ - row % run_));
  }

  void MakeRoom() {
    const int64_t room = kNibbleRows * beside_bytes_;
    beside_ = Scratch::OfThread().Bytes(2 * room + RoundUpTo(block_.rows * kNibbleWordBytes, kCacheLine));
    image_ = streams_ ? beside_ + room : to_;
    gathered_ = beside_ + 2 * room;
  }

  // The bit at which a run begins, from the image on.
  int64_t BitOf(int64_t column) const {
    if (!streams_) return block_.to + plan_.columns[column];
    return column * (is_dense_ ? run_bits_ : 8 * beside_bytes_);
  }
  bool IsBeside(int64_t column) const { return column >= block_.columns || BitOf(column) % 8 != 0; }
  char* Beside(int64_t column) const { return beside_ + column * beside_bytes_; }

  void GatherWords() const {
    const int64_t bytes = CeilOfRatio<int64_t>(block_.columns, 2);
    for (int64_t r = 0; r < block_.rows; ++r) {
      const char* const from = from_ + block_.from / 8 + plan_.row_bytes[r];
      bytes == kNibbleWordBytes ? std::memcpy(gathered_ + r * kNibbleWordBytes, from, kNibbleWordBytes)
                                : std::memcpy(gathered_ + r * kNibbleWordBytes, from, bytes);
    }
  }

  // Writes the words to the runs, from row `row` on.
  void Deinterleave(const char* from, const NibbleWordRuns& words, int64_t row) const {
    char* to[kNibbleRows];
    for (int64_t c = 0; c < kNibbleRows; ++c) {
      to[c] = (IsBeside(c) ? Beside(c) : image_ + (BitOf(c) >> 3)) + row * slot_bits_ / 8;
    }
    slot_bits_ == 8 ? DeinterleaveNibbleBytes(from, words, to) : DeinterleaveNibbles(from, words, to);
  }

  void PutBesideRunsInPlace() const {
    for (int64_t c = 0; c < block_.columns; ++c) {
      if (IsBeside(c)) CallRowFunction(context_.convert, Beside(c), 0, image_, BitOf(c), block_.rows);
    }
  }

  // Copies the image to the target, with non-temporal stores.
  void Store() const {
    if (is_dense_) return StoreRun(0, block_.to, block_.columns * run_bits_);
    for (int64_t c = 0; c < block_.columns; ++c) StoreRun(BitOf(c), block_.to + plan_.columns[c], run_bits_);
  }
  void StoreRun(int64_t image_bit, int64_t to_bit, int64_t bits) const {
    if ((to_bit | bits) % 8 == 0) {
      StreamCopy(to_ + (to_bit >> 3), image_ + image_bit / 8, bits / 8);
    } else {
      CallRowFunction(context_.convert, image_, image_bit, to_, to_bit, bits / slot_bits_);
    }
  }

  const ConvertBlocksPlan& plan_;
  const PlanContext& context_;
  const Block& block_;
  const char* from_;
  char* to_;
  bool streams_;
  bool is_dense_;  // runs follow one another in the target
  int64_t run_;    // words that follow one another in the source
  int64_t slot_bits_;
  int64_t run_bits_;
  int64_t beside_bytes_;  // for a run
  char* beside_ = nullptr;
  char* image_ = nullptr;
  char* gathered_ = nullptr;  // words, if they do not follow one another in the source
};

}  // namespace

void RunNibbleWords(const ConvertBlocksPlan& plan, const Task& task) {
  const bool is_target = plan.words == NibbleWords::kOfTarget;
  const int64_t words = is_target ? task.block.columns : task.block.rows;
  const NextSource source(plan, task, CeilOfRatio(words, 2 * kPiece));
  is_target ? Interleaver(plan, task).Run(source) : Deinterleaver(plan, task).Run(source);
}

}  // namespace kashi::relayout
