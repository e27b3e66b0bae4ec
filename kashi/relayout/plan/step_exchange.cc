// Entry points: TryExchange, MakeTailStep. Words of a few elements: all of them elements, or some of them padding.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "kashi/relayout/kernels/exchange_kernel.h"
#include "kashi/relayout/kernels/transpose_kernels.h"
#include "kashi/relayout/plan/step.h"
#include "kashi/relayout/plan/step_internal.h"

namespace kashi::internal {

// Words of a few elements on both sides, of which those of the target are full:
//
//   bf16, in pairs on both sides, but others:   128 (4 -> 4) x 2 (524288 -> 2) x 2 (2 -> 393216)
//                                               words          source rows     target rows
const char* TryExchange(Candidate* candidate) {
  Step& step = candidate->step;
  Loops& loops = candidate->loops;
  const int64_t bits = step.element_bytes * 8;
  const size_t sources = FindLoop(loops, &Loop::to, bits);
  if (sources == loops.size()) return "exchange: no words in the target";
  const int64_t elements = loops[sources].extent;
  const auto is_word = [&](const Loop& loop) { return loop.from == elements * bits && loop.to == elements * bits; };
  const auto words = std::find_if(loops.begin(), loops.end(), is_word);
  if (words == loops.end()) return "exchange: no run of words that both sides have";
  if (words->extent * elements * step.element_bytes < kCacheLine) return "exchange: runs shorter than a cache line";
  step.exchange = ExchangeFunctionFor(step.element_bytes, elements);
  if (step.exchange == nullptr) return "exchange: no function for words of so many elements";
  const size_t targets = FindLoop(loops, &Loop::from, bits);
  if (targets < loops.size() && (loops[targets].extent > elements || targets == sources)) {
    return "exchange: words of the source overlap";
  }
  step.kernel = Kernel::kExchange;
  const Loop run = *words;
  step.exchanged_sources = loops[sources];
  if (targets < loops.size()) step.exchanged_targets = loops[targets];
  Loops others;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i != sources && i != targets && &loops[i] != words) others.push_back(loops[i]);
  }
  loops = std::move(others);
  const int64_t word = elements * step.element_bytes;
  step.columns = {1, run.extent, std::min(run.extent, kRowChunk / word), {}};
  const GridLoop over_rows = TakeTaskRows(step.columns.chunk * word * step.exchanged_targets.extent, candidate);
  MakeGrid(loops,
           {over_rows,
            {step.columns.chunk_count(), step.columns.chunk * 8 * word, step.columns.chunk * 8 * word,
             GridLoop::Over::kColumns}},
           &step);
  return nullptr;
}

std::optional<Step> MakeTailStep(const Box& box, const StepContext& context, int64_t word_elements, bool fills_words) {
  int64_t Loop::*const words_side = fills_words ? &Loop::to : &Loop::from;
  int64_t Loop::*const dense_side = fills_words ? &Loop::from : &Loop::to;
  const int64_t bits = context.to.slot_bits, word = word_elements * bits / 8;
  Step step;
  step.kernel = Kernel::kTails;
  step.from_offset = box.from_offset;
  step.to_offset = box.to_offset;
  step.context = &context;
  step.element_bytes = bits / 8;
  step.transpose = TransposeFunctionFor(step.element_bytes);
  step.word_elements = word_elements;
  step.fills_words = fills_words;
  Loops loops = box.loops;
  const auto take = [&](size_t i) {
    const Loop loop = loops[i];
    loops.erase(loops.begin() + i);
    return loop;
  };
  // Where the target runs backwards, so do the elements of a word: it begins with the last of them.
  const size_t backwards = FindLoop(loops, words_side, -bits);
  if (backwards < loops.size()) {
    Loop& loop = loops[backwards];
    step.from_offset += (loop.extent - 1) * loop.from;
    step.to_offset += (loop.extent - 1) * loop.to;
    loop = {loop.extent, -loop.from, -loop.to};
  }
  const size_t elements = FindLoop(loops, words_side, bits);
  if (elements < loops.size()) (fills_words ? step.exchanged_sources : step.exchanged_targets) = take(elements);
  const size_t words = FindLoop(loops, words_side, 8 * word);
  if (words == loops.size() || loops[words].*dense_side != bits || step.transpose == nullptr) return std::nullopt;
  const Loop run = take(words);
  step.columns = {1, run.extent, std::min(run.extent, kTailTask / word), {}};
  const size_t next = FindLoop(loops, dense_side, bits * run.extent);
  if (next < loops.size()) {
    step.row_stride = take(next);
    step.rows = {1, step.row_stride.extent, 1, {}};
    step.rows.chunk = std::clamp<int64_t>(kTailTask / word / run.extent, 1, step.rows.extent);
  }
  MakeGrid(loops,
           {{step.rows.chunk_count(), step.row_stride.from * step.rows.chunk, step.row_stride.to * step.rows.chunk,
             GridLoop::Over::kRows},
            {step.columns.chunk_count(), run.from * step.columns.chunk, run.to * step.columns.chunk,
             GridLoop::Over::kColumns}},
           &step);
  return step;
}

}  // namespace kashi::internal
