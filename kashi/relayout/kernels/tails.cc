#include "kashi/relayout/kernels/tails.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/copy_rows.h"
#include "kashi/relayout/simd/scratch.h"

namespace kashi::relayout {
namespace {

// If one side runs backwards, so do the elements of a word: it begins with the last of them.
void TurnLoop(size_t i, Box* box) {
  Loop& loop = box->loops[i];
  box->from_offset += (loop.extent - 1) * loop.from;
  box->to_offset += (loop.extent - 1) * loop.to;
  loop = {loop.extent, -loop.from, -loop.to};
}

}  // namespace

TryResult<TailsPlan> TailsPlan::Try(const BoxOffer& offer) {
  int64_t Loop::*const words_side = offer.fills_words ? &Loop::to : &Loop::from;
  int64_t Loop::*const dense_side = offer.fills_words ? &Loop::from : &Loop::to;
  const int64_t bits = 8 * offer.element_bytes, word = offer.word_elements * offer.element_bytes;
  TailsPlan plan = {offer.element_bytes, offer.word_elements, offer.fills_words,
                    TransposeFunctionFor(offer.element_bytes)};
  if (plan.transpose == nullptr) return Refusal{"tails: elements of an odd size"};
  Box box = offer.box;
  Loops& loops = box.loops;
  const size_t backwards = FindLoop(loops, words_side, -bits);
  if (backwards < loops.size()) TurnLoop(backwards, &box);
  const size_t elements = FindLoop(loops, words_side, bits);
  if (elements < loops.size()) plan.elements = TakeLoop(elements, &loops);
  const size_t words = FindLoop(loops, words_side, 8 * word);
  if (words == loops.size() || loops[words].*dense_side != bits) return Refusal{"tails: no run of words"};
  const Loop run = TakeLoop(words, &loops);
  const Axis columns = {1, run.extent, std::min(run.extent, kTailTask / word)};
  const size_t next = FindLoop(loops, dense_side, bits * run.extent);
  if (next < loops.size()) plan.row_stride = TakeLoop(next, &loops);
  const int64_t row_count = plan.row_stride.extent;
  const Axis rows = {1, row_count, std::clamp<int64_t>(kTailTask / word / run.extent, 1, row_count)};
  return Planned<TailsPlan>{MakeGrid(box, loops, rows, columns,
                                     {ChunksOf(rows, plan.row_stride, GridLoop::Over::kRows),
                                      ChunksOf(columns, run, GridLoop::Over::kColumns)},
                                     offer.context.streams()),
                            plan};
}

//   source rows -> scratch, padding behind them -> transpose -> words -> target
void TailsPlan::FillWords(const Task& task) const {
  const Block& block = task.block;
  const int64_t count = block.rows * block.columns;
  const int64_t row_bytes = count * element_bytes, word = word_elements * element_bytes;
  Scratch& scratch = Scratch::OfThread();
  char* const rows = scratch.Bytes(2 * kTailTask);
  char* const words = rows + kTailTask;
  CopyRows({task.from + block.from / 8, elements.from / 8, rows, row_bytes, elements.extent, row_bytes});
  CopyRows({task.context.fill.data(), 0, rows + elements.extent * row_bytes, row_bytes, word_elements - elements.extent,
            row_bytes});
  transpose({rows, scratch.Offsets(0, word_elements, row_bytes), word_elements, words, scratch.Offsets(1, count, word),
             count, true, true});
  const int64_t run = block.columns * word;
  const RowCopy copy = {words, run, task.to + block.to / 8, row_stride.to / 8, block.rows, run};
  task.context.streams() ? StreamRows(copy) : CopyRows(copy);
}

//   source words (together in scratch) -> transpose -> rows, those of padding behind them -> target
void TailsPlan::ReadWords(const Task& task) const {
  const Block& block = task.block;
  const int64_t count = block.rows * block.columns;
  const int64_t row_bytes = count * element_bytes, word = word_elements * element_bytes;
  Scratch& scratch = Scratch::OfThread();
  char* const rows = scratch.Bytes(2 * kTailTask);
  const char* words = task.from + block.from / 8;
  if (block.rows > 1 && row_stride.from / 8 != block.columns * word) {
    char* const together = rows + kTailTask;
    CopyRows({words, row_stride.from / 8, together, block.columns * word, block.rows, block.columns * word});
    words = together;
  }
  transpose({words, scratch.Offsets(0, count, word), count, rows, scratch.Offsets(1, word_elements, row_bytes),
             word_elements, true, true});
  const RowCopy copy = {rows, row_bytes, task.to + block.to / 8, elements.to / 8, elements.extent, row_bytes};
  task.context.streams() ? StreamRows(copy) : CopyRows(copy);
}

int64_t TailsPlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const {
  return grid.TaskElements() * elements.extent * element_bytes;
}

BlockRuns TailsPlan::Runs(const TaskGrid& grid, const PlanContext&) const {
  const int64_t run = grid.columns.extent * element_bytes;
  return fills_words ? BlockRuns{run, run * word_elements} : BlockRuns{run * word_elements, run};
}

void TailsPlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(grid.columns.extent, "word"), " of ", word_elements, " x ",
                  base::Count(element_bytes, "byte"), " with ", base::Count(elements.extent, "element"), ", ",
                  grid.rows.block(), " at a time");
}

}  // namespace kashi::relayout
