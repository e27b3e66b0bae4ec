// What the files that run a step share: a block, memory for it, and what runs it.
//
//   step_run.cc            the walk over blocks; rows, and elements one by one
//   run_blocks.cc          rows that become columns
//   run_interleaving.cc    few rows that become one run, and back
//   run_exchange.cc        words of a few elements that change partners, and tails
//   run_convert_block.cc   elements that change their form
//   run_word_block.cc      elements of 4 bits of which one side has words
#ifndef KASHI_RELAYOUT_RUN_RUN_BLOCK_H_
#define KASHI_RELAYOUT_RUN_RUN_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "kashi/relayout/plan/step.h"

namespace kashi::internal {

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

// Rows to columns, by the step's kernel if it has one.
inline void Transpose(const TransposeBlock& block, const Step& step) {
  if (step.transpose != nullptr) return step.transpose(block);
  const int64_t bytes = step.element_bytes;
  for (int64_t c = 0; c < block.columns; ++c) {
    for (int64_t r = 0; r < block.rows; ++r) {
      std::memcpy(block.to + block.to_offsets[c] + r * bytes, block.from + block.from_offsets[r] + c * bytes, bytes);
    }
  }
}

// ---- Elements of whole bytes

// A block of kBlocks. The source of `next` may be asked for meanwhile.
void RunBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to);

// A task of kInterleave; likewise.
void RunInterleaving(const Step& step, const Block& block, const Block& next, const char* from, char* to);

// A task of kExchange.
void RunExchange(const Step& step, const Block& block, const char* from, char* to);

// A task of kTails: elements to words, and words to elements.
void RunFilledWords(const Step& step, const Block& block, const char* from, char* to);
void RunPartOfWords(const Step& step, const Block& block, const char* from, char* to);

// ---- Elements that change their form

// Row functions count bits from an address upwards; where a side has negative strides, its bits are counted downwards.
inline void CallRowFunction(const RowFunction& function, const char* from, int64_t from_bit, char* to, int64_t to_bit,
                            int64_t count) {
  function(from + (from_bit >> 3), from_bit & 7, to + (to_bit >> 3), to_bit & 7, count);
}

// A run of the target that changes its form on the way from slots of `slot_bits`: past the caches, if the step streams.
void ConvertRun(const Step& step, const RowFunction& function, int64_t slot_bits, const char* from, int64_t from_bit,
                char* to, int64_t to_bit, int64_t count);

// A block of kConvertBlocks. The source of `next` may be asked for meanwhile.
void RunConvertBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to);

// Where a side has words (Step::words).
void RunWordBlock(const Step& step, const Block& block, const Block& next, const char* from, char* to);

}  // namespace kashi::internal

#endif  // KASHI_RELAYOUT_RUN_RUN_BLOCK_H_
