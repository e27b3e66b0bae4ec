#include "kashi/query/submodule_selection.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/base/text.h"
#include "kashi/hlo/verifier/async_pairs.h"

namespace kashi::query {
namespace {

// Asynchronous operations in flight, buffers and opaque values: neither parameters nor results. A parameter of the
// program that is one stays a parameter.
bool CannotBeCut(const HloInstruction& x) {
  if (x.opcode() == HloOpcode::kParameter) return false;
  const hlo::AsyncPairing* const pairing = hlo::FindAsyncPairing(x.opcode());
  if (pairing != nullptr && !pairing->only_user.empty()) return true;
  return ShapeUtil::HasPrimitiveType(x.shape(), BUFFER) || ShapeUtil::HasPrimitiveType(x.shape(), OPAQUE_TYPE);
}

// Whether the operation is the end of an asynchronous one, which needs the beginning as its operand.
bool EndsAnother(const HloInstruction& x) {
  const hlo::AsyncPairing* const pairing = hlo::FindAsyncPairing(x.opcode());
  return pairing != nullptr && !pairing->operand.empty() && x.operand_count() > 0;
}

}  // namespace

bool NeedsNoValueFromOutside(const HloInstruction& x) {
  const auto is_constant = [](const HloInstruction& i) {
    return i.opcode() == HloOpcode::kConstant || i.opcode() == HloOpcode::kIota;
  };
  return is_constant(x) || (x.opcode() == HloOpcode::kBroadcast && is_constant(*x.operand(0)));
}

absl::StatusOr<SubmoduleSelection> SubmoduleSelection::Make(const HloModule& module,
                                                            absl::Span<const HloInstruction* const> chosen,
                                                            int64_t with_operands) {
  if (chosen.empty()) return InvalidArgument("no instruction is chosen");
  SubmoduleSelection selection;
  selection.selected_.insert(chosen.begin(), chosen.end());
  selection.AddOperands(with_operands);
  selection.DropCovered();
  KASHI_RETURN_IF_ERROR(selection.AddWhatCannotBeCut());
  selection.DropCovered();
  selection.SetOrder(module);
  return selection;
}

void SubmoduleSelection::AddOperands(int64_t levels) {
  std::vector<const HloInstruction*> last(selected_.begin(), selected_.end());
  for (int64_t level = 0; level < levels && !last.empty(); ++level) {
    std::vector<const HloInstruction*> next;
    for (const HloInstruction* x : last) {
      for (const HloInstruction* operand : x->operands()) {
        if (selected_.insert(operand).second) next.push_back(operand);
      }
    }
    last = std::move(next);
  }
}

// Sets callees_, and drops the instructions in them: the copies of the callees have them.
void SubmoduleSelection::DropCovered() {
  std::vector<const HloComputation*> unseen;
  for (const HloInstruction* x : selected_) {
    unseen.insert(unseen.end(), x->called_computations().begin(), x->called_computations().end());
  }
  while (!unseen.empty()) {
    const HloComputation* const computation = unseen.back();
    unseen.pop_back();
    if (!callees_.insert(computation).second) continue;
    for (const HloInstruction* x : computation->instructions()) {
      unseen.insert(unseen.end(), x->called_computations().begin(), x->called_computations().end());
    }
  }
  int64_t covered = 0;
  for (auto x = selected_.begin(); x != selected_.end();) {
    const bool is_covered = callees_.contains((*x)->parent());
    covered += is_covered ? 1 : 0;
    if (is_covered) {
      selected_.erase(x++);
    } else {
      ++x;
    }
  }
  if (covered == 0) return;
  notes_.push_back(absl::StrCat(base::Count(covered, "instruction"), covered == 1 ? " is" : " are",
                                " in computations that others call, and copied with those"));
}

absl::Status SubmoduleSelection::AddWhatCannotBeCut() {
  std::vector<const HloInstruction*> unseen(selected_.begin(), selected_.end());
  std::vector<absl::string_view> added;
  const auto add = [&](const HloInstruction* x) {
    if (!selected_.insert(x).second) return;
    unseen.push_back(x);
    added.push_back(x->name());
  };
  while (!unseen.empty()) {
    const HloInstruction& x = *unseen.back();
    unseen.pop_back();
    if (EndsAnother(x)) add(x.operand(0));
    for (const HloInstruction* operand : x.operands()) {
      if (CannotBeCut(*operand)) add(operand);
    }
    if (!CannotBeCut(x)) continue;
    if (x.user_count() == 0) {
      return FailedPrecondition("%s cannot be the result of a program: its value is used in another computation, %s",
                                x.name(), ShapeUtil::HumanString(x.shape()));
    }
    for (const HloInstruction* user : x.users()) add(user);
  }
  absl::c_sort(added);
  for (const absl::string_view name : added) {
    notes_.push_back(absl::StrCat(name, " is added: the value between it and the part cannot cross a cut"));
  }
  return absl::OkStatus();
}

void SubmoduleSelection::SetOrder(const HloModule& module) {
  absl::flat_hash_set<const HloComputation*> computations;
  for (const HloInstruction* x : selected_) computations.insert(x->parent());
  computations_ = static_cast<int64_t>(computations.size());
  for (const HloComputation* computation : module.MakeComputationPostOrder()) {
    if (!computations.contains(computation)) continue;
    for (const HloInstruction* x : module.InstructionOrder(*computation)) {
      if (Has(x)) order_.push_back(x);
    }
  }
}

bool SubmoduleSelection::IsStandIn(const HloInstruction& x) const {
  if (x.opcode() == HloOpcode::kParameter) return true;
  if (x.opcode() != HloOpcode::kGetTupleElement || Has(x.operand(0))) return false;
  return !CannotBeCut(x) && absl::c_none_of(x.users(), [&](const HloInstruction* y) { return EndsAnother(*y); });
}

std::vector<const HloInstruction*> SubmoduleSelection::StandIns() const {
  absl::flat_hash_set<const HloInstruction*> seen;
  std::vector<const HloInstruction*> stand_ins;
  const auto add = [&](const HloInstruction* x) {
    if (seen.insert(x).second) stand_ins.push_back(x);
  };
  for (const HloInstruction* x : order_) {
    if (IsStandIn(*x)) {
      add(x);
      continue;
    }
    for (const HloInstruction* operand : x->operands()) {
      if (!Has(operand) && !NeedsNoValueFromOutside(*operand)) add(operand);
    }
  }
  // Parameters keep the order of their numbers. In several computations they stay apart.
  const auto is_parameter = [](const HloInstruction* x) { return x->opcode() == HloOpcode::kParameter; };
  const auto others = std::stable_partition(stand_ins.begin(), stand_ins.end(), is_parameter);
  if (computations_ == 1) {
    std::stable_sort(stand_ins.begin(), others, [](const HloInstruction* a, const HloInstruction* b) {
      return a->parameter_number() < b->parameter_number();
    });
  }
  return stand_ins;
}

bool SubmoduleSelection::IsResult(const HloInstruction& x) const {
  if (CannotBeCut(x)) return false;
  if (x.IsRoot()) return true;
  if (IsStandIn(x) || NeedsNoValueFromOutside(x)) return false;
  return x.user_count() == 0 || absl::c_any_of(x.users(), [&](const HloInstruction* user) { return !Has(user); });
}

std::vector<const HloInstruction*> SubmoduleSelection::Results() const {
  std::vector<const HloInstruction*> results;
  absl::c_copy_if(order_, std::back_inserter(results), [&](const HloInstruction* x) { return IsResult(*x); });
  if (!results.empty()) return results;
  // Only parameters and constants were chosen.
  absl::c_copy_if(order_, std::back_inserter(results), [](const HloInstruction* x) { return !CannotBeCut(*x); });
  return results;
}

}  // namespace kashi::query
