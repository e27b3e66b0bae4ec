#include "kashi/relayout/plan/step.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "kashi/relayout/nests/axes.h"
#include "kashi/relayout/simd/copy_rows.h"

namespace kashi::relayout {
namespace {

// The step of the first kernel in the table that takes the offer; nothing if none does.
std::optional<Step> TryKernels(const SharedContext& context, const Box& box, const BoxOffer& offer) {
  absl::InlinedVector<const char*, 4> refusals;
  const absl::Span<const KernelRow> table = KernelTable();
  for (size_t i = 0; i < table.size(); ++i) {
    const bool is_last = i + 1 == table.size();  // takes all boxes
    const bool is_skipped = !is_last && (context->choice.skipped_kernels >> i & 1) != 0;
    if ((table[i].boxes & offer.kind) == 0 || is_skipped) continue;
    TryResult<KernelPlan> result = table[i].try_box(offer);
    if (const Refusal* refusal = std::get_if<Refusal>(&result)) {
      refusals.push_back(refusal->why);
      continue;
    }
    Planned<KernelPlan>& planned = std::get<Planned<KernelPlan>>(result);
    return Step{context, box, std::move(planned.grid), std::move(planned.plan), std::move(refusals)};
  }
  return std::nullopt;
}

}  // namespace

Step MakeStep(const SharedContext& context, const Box& box) {
  BoxOffer offer = {*context, kBytes, box, 0};
  const int64_t bits = context->keeps_form() ? WidenElement(&offer.box, context->to.slot_bits) : 0;
  if (bits == 0) offer.kind = kConverting;
  offer.element_bytes = bits / 8;
  return *TryKernels(context, box, offer);  // the last kernel takes all boxes
}

std::optional<Step> MakeGroupStep(const SharedContext& context, const Box& box) {
  BoxOffer offer = {*context, kGroups, box, 0};
  offer.element_bytes = WidenElement(&offer.box, context->to.slot_bits) / 8;
  return TryKernels(context, box, offer);
}

std::optional<Step> MakeTailStep(const SharedContext& context, const Box& box, int64_t word_elements,
                                 bool fills_words) {
  return TryKernels(context, box, {*context, kTails, box, context->to.slot_bits / 8, word_elements, fills_words});
}

std::string Step::ToString() const {
  const KernelRow& row = KernelOf(kernel);
  std::string text = row.name;
  row.print(kernel, grid, *context, &text);
  const int64_t tasks = TaskCount();
  absl::StrAppend(&text, ", ", tasks, tasks == 1 ? " task" : " tasks",
                  context->streams() ? ", non-temporal stores" : "");
  if (grid.tasks_together > 1) absl::StrAppend(&text, ", ", grid.tasks_together, " by one thread (they share bytes)");
  for (const char* refusal : refusals) absl::StrAppend(&text, "\n    not ", refusal);
  return text;
}

void RunStep(const Step& step, const char* from, char* to, int64_t begin, int64_t end) {
  const KernelRow& row = KernelOf(step.kernel);
  ForEachTask(step.grid, begin, end, [&](const Block& block, const Block& next) {
    row.run(step.kernel, {*step.context, step.grid, block, next, from, to});
  });
  if (begin < end && step.context->streams()) StreamFence();
}

}  // namespace kashi::relayout
