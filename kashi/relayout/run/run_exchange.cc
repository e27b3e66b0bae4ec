// Entry points: RunExchange, RunFilledWords, RunPartOfWords. Words of a few elements that change partners, and tails.
#include <cstdint>

#include "kashi/relayout/kernels/copy_rows.h"
#include "kashi/relayout/kernels/exchange_kernel.h"
#include "kashi/relayout/run/run_block.h"

namespace kashi::internal {

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

}  // namespace kashi::internal
