#include "kashi/relayout/relayout_plan.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/relayout/plan/planner.h"
#include "kashi/relayout/plan/problem.h"
#include "kashi/relayout/run/execute.h"
#include "kashi/relayout/run/index_loop.h"
#include "kashi/relayout/run/measure.h"
#include "kashi/relayout/simd/row_functions.h"

namespace kashi {
namespace {

absl::Status CheckTask(const relayout::RelayoutTask& task) {
  const Placement &from = task.from, &to = task.to;
  if (from.dimensions() != to.dimensions()) {
    return InvalidArgument("%s and %s are not the same array: their dimensions differ", from.ToString(), to.ToString());
  }
  if (from.element_type() != to.element_type() && !task.options.convert) {
    return InvalidArgument("%s and %s have different element types, and no conversion is asked for", from.ToString(),
                           to.ToString());
  }
  if (task.options.threads < 0) return InvalidArgument("%d threads", task.options.threads);
  if (task.options.caches) KASHI_RETURN_IF_ERROR(ParseCacheModel(task.options.caches->ToString()).status());
  return relayout::CheckForms(task.from_form(), task.to_form());
}

int64_t BufferBytes(const Placement& placement) { return placement.has_layout() ? placement.map().byte_size() : 0; }

}  // namespace

struct RelayoutPlan::State {
  relayout::RelayoutTask task;
  relayout::MovePlan plan;
};

RelayoutPlan::RelayoutPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

absl::StatusOr<RelayoutPlan> RelayoutPlan::Make(const Placement& from, const Placement& to,
                                                const RelayoutOptions& options) {
  relayout::RelayoutTask task = {from, to, options};
  KASHI_RETURN_IF_ERROR(CheckTask(task));
  relayout::MovePlan plan;
  if (options.measure) {
    KASHI_ASSIGN_OR_RETURN(plan, relayout::MakeMeasuredPlan(task));
  } else {
    plan = relayout::MakeMovePlan(task);
  }
  return RelayoutPlan(std::make_shared<State>(State{std::move(task), std::move(plan)}));
}

absl::StatusOr<RelayoutPlan> RelayoutPlan::Make(const Shape& from, const Shape& to, const RelayoutOptions& options) {
  KASHI_ASSIGN_OR_RETURN(Placement from_placement, Placement::OfLayout(from));
  KASHI_ASSIGN_OR_RETURN(Placement to_placement, Placement::OfLayout(to));
  return Make(from_placement, to_placement, options);
}

const Placement& RelayoutPlan::from() const { return state_->task.from; }
const Placement& RelayoutPlan::to() const { return state_->task.to; }
const RelayoutOptions& RelayoutPlan::options() const { return state_->task.options; }
int64_t RelayoutPlan::source_bytes() const { return BufferBytes(from()); }
int64_t RelayoutPlan::target_bytes() const { return BufferBytes(to()); }
bool RelayoutPlan::is_identity() const { return state_->plan.is_identity; }

void RelayoutPlan::Execute(const void* source, void* target) const {
  relayout::ExecutePlan(state_->task, state_->plan, static_cast<const char*>(source), static_cast<char*>(target));
}

void RelayoutPlan::ExecuteByIndex(const void* source, void* target) const {
  const relayout::RelayoutTask& task = state_->task;
  char* const to = static_cast<char*>(target);
  if (task.clears_padding()) {
    relayout::ClearByIndex(task, to);
    relayout::ClearLastBits(task.to, to);
  }
  relayout::MoveByIndex(task, state_->plan.context->convert, static_cast<const char*>(source), to);
}

std::string RelayoutPlan::ToString() const {
  return absl::StrCat(from().ToString(), " -> ", to().ToString(), "\n", state_->plan.ToString());
}

}  // namespace kashi
