// The plan of ConvertBlocksPlan.
#include "kashi/relayout/kernels/convert_blocks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/math.h"
#include "kashi/base/text.h"
#include "kashi/relayout/kernels/convert.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/nibble_words.h"

namespace kashi::relayout {
namespace {

// Words that begin with a byte: of the target, if a block has all of its rows, or of the source, if it has all of its
// columns. If there are fewer than 8 of those the words follow one another.
NibbleWords WordsOf(const TaskGrid& grid, const ConvertBlocksPlan& plan, const PlanContext& context) {
  constexpr int64_t kLong = 32;  // elements of the runs on the other side
  if (!context.moves_nibbles && !context.resizes_nibbles) return NibbleWords::kNone;
  const auto has_words = [](const Axis& few, const Axis& many, const Offsets& offsets_of_many) {
    return few.chunk_count() == 1 && many.block() >= kLong &&
           (few.block() == kNibbleRows || (few.block() < kNibbleRows && offsets_of_many.stride == kNibbleWordBits));
  };
  bool from_is_whole = IsWhole(grid.from_offset), to_is_whole = IsWhole(grid.to_offset);
  for (const GridLoop& loop : grid.loops) {
    from_is_whole = from_is_whole && IsWhole(loop.from);
    to_is_whole = to_is_whole && IsWhole(loop.to);
  }
  if (context.to.slot_bits == 4 && has_words(grid.rows, grid.columns, plan.columns) && plan.runs_fill_bytes &&
      to_is_whole) {
    return NibbleWords::kOfTarget;
  }
  if (context.from.slot_bits == 4 && has_words(grid.columns, grid.rows, plan.rows) && !plan.row_bytes.empty() &&
      from_is_whole) {
    return NibbleWords::kOfSource;
  }
  return NibbleWords::kNone;
}

}  // namespace

TryResult<ConvertBlocksPlan> ConvertBlocksPlan::Try(const BoxOffer& offer) {
  const PlanContext& context = offer.context;
  const Loops& loops = offer.box.loops;
  const int64_t from_bits = context.from.slot_bits, to_bits = context.to.slot_bits;
  if (FindLoop(loops, &Loop::to, to_bits) == loops.size() && FindLoop(loops, &Loop::from, from_bits) == loops.size()) {
    return Refusal{"convert blocks: neither side has neighbours in memory"};
  }
  BlockWish wish = {
      WantedBlock(loops, from_bits, to_bits, context), from_bits, to_bits, /*unit=*/1, kCacheLine, kCacheLine};
  wish.most = context.sizes.convert_block;
  BlockCut cut = CutIntoBlocks(offer.box, wish, context.streams());
  const int64_t bytes = context.scratch.slot_bits / 8;
  ConvertBlocksPlan plan = {bytes, TransposeFunctionFor(bytes)};
  plan.dense_columns = DenseColumns(cut, to_bits);
  plan.rows = std::move(cut.rows);
  plan.columns = std::move(cut.columns);
  plan.runs_fill_bytes = std::all_of(plan.columns.at.begin(), plan.columns.at.end(), IsWhole);
  if (std::all_of(plan.rows.at.begin(), plan.rows.at.end(), IsWhole)) {
    for (int64_t offset : plan.rows.at) plan.row_bytes.push_back(offset / 8);
    plan.rows.collides = Collides(plan.row_bytes, context.caches.l1, context.caches.l1.ways);
  }
  plan.words = WordsOf(cut.grid, plan, context);
  FindSharedBytes(plan.columns, to_bits, &cut.grid);
  return Planned<ConvertBlocksPlan>{std::move(cut.grid), std::move(plan)};
}

int64_t ConvertBlocksPlan::TaskBytes(const TaskGrid& grid, const PlanContext& context) const {
  return CeilOfRatio<int64_t>(grid.TaskElements() * context.to.slot_bits, 8);
}

BlockRuns ConvertBlocksPlan::Runs(const TaskGrid& grid, const PlanContext& context) const {
  return {CeilOfRatio<int64_t>(grid.columns.block() * context.from.slot_bits, 8),
          CeilOfRatio<int64_t>(grid.rows.block() * context.to.slot_bits, 8)};
}

void ConvertBlocksPlan::Print(const TaskGrid& grid, const PlanContext&, std::string* text) const {
  absl::StrAppend(text, " of ", base::Count(grid.rows.block(), "row"), " x ",
                  base::Count(grid.columns.block(), "column"), " of ", base::Count(element_bytes, "byte"));
  if (words != NibbleWords::kNone) {
    absl::StrAppend(text, ", words of ", words == NibbleWords::kOfTarget ? "rows" : "columns");
  }
  if (dense_columns > 1) absl::StrAppend(text, ", ", base::Count(dense_columns, "column"), " in one run");
}

}  // namespace kashi::relayout
