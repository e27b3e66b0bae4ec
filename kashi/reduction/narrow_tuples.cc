// Transformations that leave out elements of tuples and operands where a computation is called.
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/reduction/transformations.h"

namespace kashi::reduction {
namespace {

using Numbers = std::vector<int64_t>;

// How many instructions call a computation. Only one that has a single caller can get another signature.
class CallCounts {
 public:
  explicit CallCounts(const HloModule& module) {
    for (const HloComputation* computation : module.computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        for (const HloComputation* callee : instruction->called_computations()) ++counts_[callee];
      }
    }
  }
  bool AreAllOnce(absl::Span<HloComputation* const> computations) const {
    return absl::c_all_of(computations, [this](const HloComputation* x) { return counts_.at(x) == 1; });
  }

 private:
  absl::flat_hash_map<const HloComputation*, int64_t> counts_;
};

bool IsElement(const HloInstruction* x) { return x->opcode() == HloOpcode::kGetTupleElement; }
bool IsPlainCall(const HloInstruction& x) { return x.opcode() == HloOpcode::kCall || x.opcode() == HloOpcode::kFusion; }

// In a module that breaks rules, what takes and what gives a tuple may have other shapes than the caller.
bool IsTupleOf(const Shape& shape, int64_t count) { return shape.IsTuple() && shape.tuple_shapes_size() == count; }
bool TakesTupleOf(const HloComputation* x, int64_t count) {
  return x->num_parameters() == 1 && IsTupleOf(x->parameter_instruction(0)->shape(), count);
}
bool GivesTupleOf(const HloComputation* x, int64_t count) { return IsTupleOf(x->root_instruction()->shape(), count); }

// The numbers from 0 to count - 1 without some.
Numbers AllBut(const Numbers& without, int64_t count) {
  Numbers kept;
  for (int64_t i = 0; i < count; ++i) {
    if (!absl::c_linear_search(without, i)) kept.push_back(i);
  }
  return kept;
}

Shape TupleOf(const Shape& tuple, const Numbers& kept) {
  std::vector<Shape> elements;
  for (const int64_t i : kept) elements.push_back(tuple.tuple_shapes(static_cast<int>(i)));
  return ShapeUtil::MakeTupleShape(elements);
}

// Gives a tuple fewer elements. `missing` makes a value for one of the others, where it is used.
class Narrowing {
 public:
  Narrowing(ModuleEdit* edit, Numbers kept) : edit_(edit), kept_(std::move(kept)) {}

  // The shape of the instruction, and what its users make of it.
  template <typename Missing>
  absl::Status NarrowValue(HloInstruction* value, Missing missing) {
    const Shape whole = value->shape();
    const std::vector<HloInstruction*> users(value->users().begin(), value->users().end());
    const bool is_root = value->IsRoot();
    HloInstruction* rebuilt = nullptr;
    for (HloInstruction* user : users) {
      if (IsElement(user)) {
        KASHI_RETURN_IF_ERROR(RenumberElement(user, missing));
      } else {
        if (rebuilt == nullptr) {
          KASHI_ASSIGN_OR_RETURN(rebuilt, Rebuild(value, whole, missing));
        }
        KASHI_RETURN_IF_ERROR(value->ReplaceUseWith(user, rebuilt));
      }
    }
    if (is_root) {
      if (rebuilt == nullptr) {
        KASHI_ASSIGN_OR_RETURN(rebuilt, Rebuild(value, whole, missing));
      }
      value->parent()->set_root_instruction(rebuilt, /*accept_different_shape=*/true);
    }
    SetTupleShape(value, whole);
    return absl::OkStatus();
  }

  // A tuple of the elements that are kept.
  HloInstruction* NarrowedCopy(HloInstruction* tuple) {
    std::vector<HloInstruction*> elements;
    for (const int64_t i : kept_) elements.push_back(edit_->AddElement(tuple, i, tuple));
    return edit_->Add(HloInstruction::CreateTuple(elements), tuple);
  }

  void NarrowRoot(HloComputation* computation) {
    HloInstruction* const root = computation->root_instruction();
    HloInstruction* const narrowed = NarrowedCopy(root);
    computation->set_root_instruction(narrowed, /*accept_different_shape=*/true);
    if (root->opcode() == HloOpcode::kTuple && root->user_count() == 0) edit_->Drop(root);
  }

  void SetTupleShape(HloInstruction* instruction, const Shape& whole) {
    NarrowSharding(instruction, whole.tuple_shapes_size());
    instruction->set_original_value(nullptr);
    instruction->mutable_fields()->Erase(HloField::output_operand_aliasing);
    edit_->SetShape(instruction, TupleOf(whole, kept_));
  }

 private:
  template <typename Missing>
  absl::Status RenumberElement(HloInstruction* element, Missing missing) {
    const int64_t count = element->operand(0)->shape().tuple_shapes_size();
    if (element->tuple_index() < 0 || element->tuple_index() >= count) return Internal("there is no such element");
    const auto place = absl::c_lower_bound(kept_, element->tuple_index());
    if (place != kept_.end() && *place == element->tuple_index()) {
      element->mutable_fields()->Set<HloField::tuple_index>(place - kept_.begin());
      return absl::OkStatus();
    }
    KASHI_ASSIGN_OR_RETURN(HloInstruction * stand_in, missing(element->tuple_index(), element->shape(), element));
    edit_->Replace(element, stand_in);
    return absl::OkStatus();
  }

  // The whole tuple, for users that take it as it was.
  template <typename Missing>
  absl::StatusOr<HloInstruction*> Rebuild(HloInstruction* value, const Shape& whole, Missing missing) {
    std::vector<HloInstruction*> elements;
    size_t next = 0;
    for (int64_t i = 0; i < whole.tuple_shapes_size(); ++i) {
      const Shape& shape = whole.tuple_shapes(static_cast<int>(i));
      if (next < kept_.size() && kept_[next] == i) {
        elements.push_back(
            edit_->Add(HloInstruction::CreateGetTupleElement(shape, value, static_cast<int64_t>(next++)), value));
      } else {
        KASHI_ASSIGN_OR_RETURN(HloInstruction * stand_in, missing(i, shape, value));
        elements.push_back(stand_in);
      }
    }
    return edit_->Add(HloInstruction::CreateTuple(elements), value);
  }

  void NarrowSharding(HloInstruction* instruction, int64_t count) {
    if (!instruction->has_sharding()) return;
    const std::vector<HloSharding> elements = instruction->sharding().tuple_elements();
    const bool has_one_each =
        static_cast<int64_t>(elements.size()) == count &&
        absl::c_all_of(instruction->shape().tuple_shapes(), [](const Shape& x) { return x.IsArray(); });
    instruction->clear_sharding();
    if (!has_one_each || kept_.empty()) return;
    std::vector<HloSharding> left;
    for (const int64_t i : kept_) left.push_back(elements[i]);
    instruction->set_sharding(HloSharding::FlatTuple(std::move(left)));
  }

  ModuleEdit* const edit_;
  const Numbers kept_;
};

// For values inside of the computation.
auto Zeros(ModuleEdit* edit) {
  return [edit](int64_t, const Shape& shape, HloInstruction* near) { return edit->AddNumbers(shape, 0, near); };
}

// The numbers of the sites of each instruction, in the order of the sites.
using Groups = std::vector<std::pair<Site, Numbers>>;
Groups GroupSites(absl::Span<const Site> sites) {
  Groups groups;
  for (const Site& site : sites) {
    const bool is_next = groups.empty() || groups.back().first.instruction != site.instruction ||
                         groups.back().first.computation != site.computation;
    if (is_next) groups.push_back({site, {}});
    groups.back().second.push_back(site.number);
  }
  return groups;
}

}  // namespace

// ---- Loops ----------------------------------------------------------------------------------------------------------

Sites FindLoopState(const HloModule& module) {
  Sites sites;
  const CallCounts calls(module);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* loop : computation->instructions()) {
      if (loop->opcode() != HloOpcode::kWhile || !loop->shape().IsTuple()) continue;
      const int64_t count = loop->shape().tuple_shapes_size();
      const bool has_one_shape = IsTupleOf(loop->operand(0)->shape(), count) &&
                                 GivesTupleOf(loop->while_body(), count) && TakesTupleOf(loop->while_body(), count) &&
                                 TakesTupleOf(loop->while_condition(), count);
      if (!has_one_shape || !calls.AreAllOnce(loop->called_computations())) continue;
      for (int64_t i = 0; i < count; ++i) sites.push_back({loop, i});
    }
  }
  return sites;
}

// Without the element the body and the condition see zeros, and users of the loop its initial value.
absl::Status DropLoopState(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const auto& [site, numbers] : GroupSites(sites)) {
    HloInstruction* const loop = edit->CopyOf(*site.instruction);
    HloInstruction* const init = loop->mutable_operand(0);
    Narrowing narrowing(edit, AllBut(numbers, loop->shape().tuple_shapes_size()));
    for (HloComputation* computation : loop->called_computations()) {
      KASHI_RETURN_IF_ERROR(narrowing.NarrowValue(computation->parameter_instruction(0), Zeros(edit)));
    }
    narrowing.NarrowRoot(loop->while_body());
    KASHI_RETURN_IF_ERROR(loop->ReplaceOperandWithDifferentShape(0, narrowing.NarrowedCopy(init)));
    const auto initial_value = [&](int64_t i, const Shape&, HloInstruction*) -> absl::StatusOr<HloInstruction*> {
      return edit->AddElement(init, i, init);
    };
    KASHI_RETURN_IF_ERROR(narrowing.NarrowValue(loop, initial_value));
  }
  return absl::OkStatus();
}

// ---- Operands -------------------------------------------------------------------------------------------------------

Sites FindCallOperands(const HloModule& module) {
  Sites sites;
  const CallCounts calls(module);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const bool is_conditional = x->opcode() == HloOpcode::kConditional;
      if ((!IsPlainCall(*x) && !is_conditional) || !calls.AreAllOnce(x->called_computations())) continue;
      if (!is_conditional) {
        if (x->operand_count() != x->called_computations()[0]->num_parameters()) continue;
        for (int64_t i = 0; i < x->operand_count(); ++i) sites.push_back({x, i});
        continue;
      }
      for (int64_t branch = 0; branch < x->branch_count() && branch + 1 < x->operand_count(); ++branch) {
        const Shape& shape = x->operand(branch + 1)->shape();
        const HloComputation* const taker = x->branch_computation(static_cast<int>(branch));
        if (!shape.IsTuple() || !TakesTupleOf(taker, shape.tuple_shapes_size())) continue;
        for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) sites.push_back({x, i, 0, nullptr, taker});
      }
    }
  }
  return sites;
}

namespace {

// Of a call or a fusion, whose computation sees zeros instead.
absl::Status DropOperands(HloInstruction* call, const Numbers& numbers, ModuleEdit* edit) {
  HloComputation* const callee = call->called_computations()[0];
  for (const int64_t i : numbers) {
    HloInstruction* const parameter = callee->parameter_instruction(i);
    if (parameter->user_count() == 0 && !parameter->IsRoot()) continue;
    KASHI_ASSIGN_OR_RETURN(HloInstruction * zeros, edit->AddNumbers(parameter->shape(), 0, parameter));
    edit->Replace(parameter, zeros);
  }
  edit->DropOperands(call, numbers);
  return absl::OkStatus();
}

// Of the tuple that a branch takes.
absl::Status DropBranchState(HloInstruction* conditional, HloComputation* branch, const Numbers& numbers,
                             ModuleEdit* edit) {
  const auto callees = conditional->called_computations();
  const int64_t operand = absl::c_find(callees, branch) - callees.begin() + 1;
  HloInstruction* const state = conditional->mutable_operand(operand);
  Narrowing narrowing(edit, AllBut(numbers, state->shape().tuple_shapes_size()));
  KASHI_RETURN_IF_ERROR(narrowing.NarrowValue(branch->parameter_instruction(0), Zeros(edit)));
  return conditional->ReplaceOperandWithDifferentShape(operand, narrowing.NarrowedCopy(state));
}

}  // namespace

absl::Status DropCallOperands(absl::Span<const Site> sites, ModuleEdit* edit) {
  for (const auto& [site, numbers] : GroupSites(sites)) {
    HloInstruction* const caller = edit->InPlaceOf(edit->CopyOf(*site.instruction));
    if (site.computation == nullptr) {
      KASHI_RETURN_IF_ERROR(DropOperands(caller, numbers, edit));
    } else {
      KASHI_RETURN_IF_ERROR(DropBranchState(caller, edit->CopyOf(*site.computation), numbers, edit));
    }
  }
  return absl::OkStatus();
}

// ---- Results --------------------------------------------------------------------------------------------------------

// Elements of the result of a call, a fusion or a conditional that nobody takes.
Sites FindUnusedResults(const HloModule& module) {
  Sites sites;
  const CallCounts calls(module);
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if ((!IsPlainCall(*x) && x->opcode() != HloOpcode::kConditional) || !x->shape().IsTuple()) continue;
      if (x->IsRoot() || !absl::c_all_of(x->users(), IsElement)) continue;
      const int64_t count = x->shape().tuple_shapes_size();
      const auto gives_tuple = [&](const HloComputation* callee) { return GivesTupleOf(callee, count); };
      if (!calls.AreAllOnce(x->called_computations()) || !absl::c_all_of(x->called_computations(), gives_tuple))
        continue;
      std::vector<bool> is_used(count);
      for (const HloInstruction* user : x->users()) {
        const int64_t i = user->tuple_index();
        if (i >= 0 && i < static_cast<int64_t>(is_used.size())) is_used[i] = true;
      }
      for (size_t i = 0; i < is_used.size(); ++i) {
        if (!is_used[i]) sites.push_back({x, static_cast<int64_t>(i)});
      }
    }
  }
  return sites;
}

absl::Status DropUnusedResults(absl::Span<const Site> sites, ModuleEdit* edit) {
  const auto none = [](int64_t i, const Shape&, HloInstruction* near) -> absl::StatusOr<HloInstruction*> {
    return Internal("element %d of %s is used", i, near->name());
  };
  for (const auto& [site, numbers] : GroupSites(sites)) {
    HloInstruction* const caller = edit->CopyOf(*site.instruction);
    Narrowing narrowing(edit, AllBut(numbers, caller->shape().tuple_shapes_size()));
    for (HloComputation* callee : caller->called_computations()) narrowing.NarrowRoot(callee);
    KASHI_RETURN_IF_ERROR(narrowing.NarrowValue(caller, none));
  }
  return absl::OkStatus();
}

}  // namespace kashi::reduction
