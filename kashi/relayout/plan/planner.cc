#include "kashi/relayout/plan/planner.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/relayout/nests/boxes.h"
#include "kashi/relayout/nests/digits.h"
#include "kashi/relayout/nests/groups.h"
#include "kashi/relayout/plan/cost.h"

namespace kashi::relayout {
namespace {

// Every bit stays where it is.
bool IsInPlace(const Box& box) {
  bool in_place = box.from_offset == box.to_offset;
  for (const Loop& loop : box.loops) in_place = in_place && loop.from == loop.to;
  return in_place;
}

// The elements of a plan: without padding.
struct Elements {
  SharedContext context;
  std::vector<Strips> strips;
  std::vector<Step> steps;
  std::optional<Digits> filled;  // of a target of which some padding is written with the elements
};

// Plans of one problem, by any of the routes.
class RoutePlanner {
 public:
  RoutePlanner(const RelayoutTask& task, const Digits& from, const Digits& to) : task_(task), from_(from), to_(to) {}

  // Returns nothing if the route makes no plan, or the same plan as another route.
  std::optional<Elements> Plan(const PlanChoice& choice) {
    const bool keeps_form = task_.from.element_type() == task_.to.element_type() &&
                            task_.from.slot_bits() == task_.to.slot_bits() && task_.to.slot_bits() % 8 == 0;
    switch (choice.route) {
      case Route::kGroups:
        return keeps_form ? PlanGroups(choice) : std::nullopt;
      case Route::kTailsFilled:
        return keeps_form && task_.clears_padding() ? PlanTails(choice, /*fills=*/true) : std::nullopt;
      case Route::kTailsRead:
        return keeps_form ? PlanTails(choice, /*fills=*/false) : std::nullopt;
      case Route::kStrips:
        return PlanStrips(choice);
      case Route::kBoxes:
        return PlanBoxes(choice);
    }
    return std::nullopt;
  }

  // Makes boxes_; false if there are none, and refusal() says why.
  bool FindBoxes() {
    if (!boxes_.has_value()) boxes_ = BoxesOf(from_, to_);
    return boxes_->ok();
  }
  std::string refusal() const { return std::string(boxes_->status().message()); }

 private:
  std::shared_ptr<PlanContext> MakeContext(const PlanChoice& choice) const {
    return std::make_shared<PlanContext>(task_.from_form(), task_.to_form(), task_.caches(), choice);
  }
  SharedContext WithinCaches(PlanChoice choice) const {
    choice.streams = false;
    return MakeContext(choice);
  }

  std::optional<Elements> PlanGroups(const PlanChoice& choice) const {
    const std::optional<GroupedDigits> grouped = GroupsOf(from_, to_, task_.clears_padding());
    if (!grouped) return std::nullopt;
    const absl::StatusOr<std::vector<Box>> boxes = BoxesOf(grouped->from, grouped->to);
    if (!boxes.ok()) return std::nullopt;
    const std::shared_ptr<PlanContext> context = MakeContext(choice);
    context->from_groups = grouped->from_groups;
    context->to_groups = grouped->to_groups;
    const Groups& groups = grouped->from_groups.any() ? grouped->from_groups : grouped->to_groups;
    context->lanes = GroupLanes(groups, PaddingBytes(task_, groups.padded - groups.packed));
    Elements elements = {context, {}, {}, {}};
    for (const Box& box : *boxes) {
      std::optional<Step> step = MakeGroupStep(context, box);
      if (!step) return std::nullopt;
      elements.steps.push_back(*std::move(step));
    }
    if (grouped->from_groups.any()) elements.filled = grouped->to;
    return elements;
  }

  // The last elements of a dimension, which do not fill a word, with the padding that does.
  std::optional<Elements> PlanTails(const PlanChoice& choice, bool fills) const {
    std::optional<HeadAndTail> cut = CutTail(from_, to_, fills);
    if (!cut) return std::nullopt;
    const absl::StatusOr<std::vector<Box>> tails = BoxesOf(cut->tail.first, cut->tail.second);
    absl::StatusOr<std::vector<Box>> heads = std::vector<Box>();
    if (cut->head) heads = BoxesOf(cut->head->first, cut->head->second);
    if (!tails.ok() || !heads.ok()) return std::nullopt;
    const std::shared_ptr<PlanContext> context = MakeContext(choice);
    if (fills) context->fill = PaddingBytes(task_, kTailTask);
    std::vector<Step> tail_steps;
    for (const Box& box : *tails) {
      std::optional<Step> step = MakeTailStep(context, box, cut->word_elements, fills);
      if (!step) return std::nullopt;
      tail_steps.push_back(*std::move(step));
    }
    Elements elements = {context, TakeStrips(context, WithinCaches(choice), &*heads), {}, {}};
    for (const Box& box : *heads) elements.steps.push_back(MakeStep(context, box));
    std::move(tail_steps.begin(), tail_steps.end(), std::back_inserter(elements.steps));
    if (fills) elements.filled = std::move(cut->filled);
    return elements;
  }

  std::optional<Elements> PlanStrips(const PlanChoice& choice) {
    if (!choice.streams || !FindBoxes()) return std::nullopt;
    const SharedContext context = MakeContext(choice);
    std::vector<Box> boxes = **boxes_;
    Elements elements = {context, TakeStrips(context, WithinCaches(choice), &boxes), {}, {}};
    if (elements.strips.empty()) return std::nullopt;
    for (const Box& box : boxes) elements.steps.push_back(MakeStep(context, box));
    return elements;
  }

  std::optional<Elements> PlanBoxes(const PlanChoice& choice) {
    if (!FindBoxes()) return std::nullopt;
    Elements elements = {MakeContext(choice), {}, {}, {}};
    elements.steps.reserve((*boxes_)->size());
    for (const Box& box : **boxes_) elements.steps.push_back(MakeStep(elements.context, box));
    return elements;
  }

  const RelayoutTask& task_;
  const Digits& from_;
  const Digits& to_;
  std::optional<absl::StatusOr<std::vector<Box>>> boxes_;  // of the routes kStrips and kBoxes
};

// `refusal`: why the elements go by the index loop, if they do.
MovePlan WithPadding(const RelayoutTask& task, const PlanChoice& choice, Elements elements, std::string refusal = "") {
  MovePlan plan;
  plan.refusal = std::move(refusal);
  plan.choice = choice;
  plan.context = elements.context;
  plan.strips = std::move(elements.strips);
  plan.steps = std::move(elements.steps);
  plan.is_identity = plan.refusal.empty() && !plan.context->has_groups() && plan.strips.empty() &&
                     task.from.element_type() == task.to.element_type() &&
                     task.from.slot_bits() == task.to.slot_bits() &&
                     std::all_of(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return IsInPlace(s.box); });
  if (!task.clears_padding()) return plan;
  const auto context = std::make_shared<PlanContext>(task.to_form(), task.to_form(), task.caches(), choice);
  plan.padding = PlanPadding(task, context, elements.filled, plan.is_identity);
  return plan;
}

// A plan that moves elements by the index loop, or has none to move.
MovePlan WithoutSteps(const RelayoutTask& task, const PlanChoice& choice, std::string refusal) {
  Elements none = {std::make_shared<PlanContext>(task.from_form(), task.to_form(), task.caches(), choice), {}, {}, {}};
  return WithPadding(task, choice, std::move(none), std::move(refusal));
}

}  // namespace

double MovePlan::cost() const {
  double cost = 0;
  for (const Step& step : padding.steps) cost += CostOf(step);
  for (const Strips& each : strips) cost += CostOf(each);
  for (const Step& step : steps) cost += CostOf(step);
  return cost;
}

std::string MovePlan::ToString() const {
  std::string text;
  if (is_identity) absl::StrAppend(&text, "identity: every element stays at its place\n");
  if (!padding.refusal.empty()) absl::StrAppend(&text, "padding by the index loop: ", padding.refusal, "\n");
  if (!padding.steps.empty()) absl::StrAppend(&text, "padding:\n");
  for (const Step& step : padding.steps) absl::StrAppend(&text, "  ", step.ToString(), "\n");
  if (!refusal.empty()) return absl::StrCat(text, "elements by the index loop: ", refusal, "\n");
  for (const Strips& each : strips) absl::StrAppend(&text, each.ToString());
  for (const Step& step : steps) absl::StrAppend(&text, "box ", step.box.ToString(), "\n  ", step.ToString(), "\n");
  return text;
}

bool StreamsTarget(const RelayoutTask& task) {
  // A plan may be made for more bytes than an int64_t can count.
  const double moved_bytes =
      static_cast<double>(task.element_count()) / 8 * static_cast<double>(task.from.slot_bits() + task.to.slot_bits());
  return task.options.non_temporal_stores.value_or(moved_bytes > static_cast<double>(task.caches().last_bytes));
}

MovePlan MakeMovePlan(const RelayoutTask& task) {
  PlanChoice choice;
  choice.streams = StreamsTarget(task);
  if (task.element_count() == 0) return WithoutSteps(task, choice, "");
  const absl::StatusOr<Digits> from = DigitsOf(task.from), to = DigitsOf(task.to);
  if (!from.ok()) return WithoutSteps(task, choice, std::string(from.status().message()));
  if (!to.ok()) return WithoutSteps(task, choice, std::string(to.status().message()));
  RoutePlanner planner(task, *from, *to);
  std::optional<MovePlan> best;
  for (int i = 0; i < kRouteCount; ++i) {
    choice.route = static_cast<Route>(i);
    std::optional<Elements> elements = planner.Plan(choice);
    if (!elements.has_value()) continue;
    MovePlan plan = WithPadding(task, choice, *std::move(elements));
    if (!best.has_value() || plan.cost() < best->cost()) best = std::move(plan);
  }
  if (best.has_value()) return *std::move(best);
  planner.FindBoxes();
  return WithoutSteps(task, choice, planner.refusal());
}

std::optional<MovePlan> MakeMovePlan(const RelayoutTask& task, const PlanChoice& choice) {
  if (task.element_count() == 0) return std::nullopt;
  const absl::StatusOr<Digits> from = DigitsOf(task.from), to = DigitsOf(task.to);
  if (!from.ok() || !to.ok()) return std::nullopt;
  std::optional<Elements> elements = RoutePlanner(task, *from, *to).Plan(choice);
  if (!elements.has_value()) return std::nullopt;
  return WithPadding(task, choice, *std::move(elements));
}

}  // namespace kashi::relayout
