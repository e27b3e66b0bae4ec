#include "kashi/relayout/kernels/exchange.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/text.h"
#include "kashi/relayout/nests/axes.h"

namespace kashi::relayout {

TryResult<ExchangePlan> ExchangePlan::Try(const BoxOffer& offer) {
  const Loops& loops = offer.box.loops;
  const int64_t bytes = offer.element_bytes, bits = 8 * bytes;
  const size_t sources = FindLoop(loops, &Loop::to, bits);
  if (sources == loops.size()) return Refusal{"exchange: no words in the target"};
  const int64_t elements = loops[sources].extent, word = elements * bytes;
  const auto is_word = [&](const Loop& loop) { return loop.from == elements * bits && loop.to == elements * bits; };
  const size_t words = std::find_if(loops.begin(), loops.end(), is_word) - loops.begin();
  if (words == loops.size()) return Refusal{"exchange: no run of words that both sides have"};
  const Loop run = loops[words];
  if (run.extent * word < kCacheLine) return Refusal{"exchange: runs shorter than a cache line"};
  ExchangePlan plan = {bytes, ExchangeFunctionFor(bytes, elements), loops[sources]};
  if (plan.function == nullptr) return Refusal{"exchange: no function for words of so many elements"};
  const size_t targets = FindLoop(loops, &Loop::from, bits);
  if (targets < loops.size() && (loops[targets].extent > elements || targets == sources)) {
    return Refusal{"exchange: words of the source overlap"};
  }
  if (targets < loops.size()) plan.targets = loops[targets];
  Loops others;
  for (size_t i = 0; i < loops.size(); ++i) {
    if (i != sources && i != targets && i != words) others.push_back(loops[i]);
  }
  const Axis columns = {1, run.extent, std::min(run.extent, offer.context.sizes.long_task / word)};
  const TaskRows rows = TakeTaskRows(columns.chunk * word * plan.targets.extent, offer.context, &others);
  plan.row_stride = rows.stride;
  return Planned<ExchangePlan>{
      MakeGrid(offer.box, others, rows.axis, columns, {rows.chunks(), ChunksOf(columns, run, GridLoop::Over::kColumns)},
               offer.context.streams()),
      plan};
}

void ExchangePlan::Run(const Task& task) const {
  const Block& block = task.block;
  const int64_t bytes = block.columns * sources.extent * element_bytes;
  for (int64_t r = 0; r < block.rows; ++r) {
    function({task.from + (block.from + r * row_stride.from) / 8, sources.from / 8,
              task.to + (block.to + r * row_stride.to) / 8, targets.to / 8, targets.extent, bytes},
             task.context.streams());
  }
}

int64_t ExchangePlan::TaskBytes(const TaskGrid& grid, const PlanContext&) const {
  return grid.TaskElements() * sources.extent * targets.extent * element_bytes;
}

BlockRuns ExchangePlan::Runs(const TaskGrid& grid, const PlanContext&) const {
  const int64_t run = grid.columns.extent * sources.extent * element_bytes;
  return {run, run};
}

void ExchangePlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(grid.columns.extent, "word"), " of ", sources.extent, " x ",
                  base::Count(element_bytes, "byte"), ", ", base::Count(targets.extent, "row"), " of them, ",
                  grid.rows.block(), " at a time");
}

}  // namespace kashi::relayout
