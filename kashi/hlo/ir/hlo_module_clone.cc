// Deep copies. An instruction's copy is found by the local id of the original, so a copy takes time and memory linear
// in the program, for any graph.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

using base::Arena;
namespace {

HloFieldList WithOtherCallees(HloFieldList fields, const HloComputationMap& computations) {
  if (!fields.Has(HloField::called_computations) || computations.empty()) return fields;
  for (HloComputation*& callee : *fields.Mutable<HloField::called_computations>()) {
    const auto copy = computations.find(callee);
    if (copy != computations.end()) callee = copy->second;
  }
  return fields;
}

template <typename List>
List Mapped(const List& originals, const HloComputation* computation, const std::vector<HloInstruction*>& copies) {
  List mapped;
  mapped.reserve(originals.size());
  for (const HloInstruction* original : originals) {
    KASHI_CHECK(original != nullptr && original->parent() == computation) << "a link leaves its computation";
    mapped.push_back(copies[original->local_id()]);
  }
  return mapped;
}

template <typename T>
T* Mapped(T* original, const std::vector<HloInstruction*>& copies) {
  return original ? copies[original->local_id()] : nullptr;
}

}  // namespace

// Links are copied in a second round, when all copies exist. So copies need no order, and links keep their order.
std::vector<HloInstruction*> HloComputation::CopyInstructionsTo(
    HloComputation* to, Arena* arena, absl::FunctionRef<std::string(absl::string_view)> name_of_copy,
    const HloComputationMap& computations) const {
  std::vector<HloInstruction*> copies(instructions_.size());
  for (const HloInstruction* original : instructions()) {
    HloFieldList fields = WithOtherCallees(original->fields(), computations);
    const std::string name = name_of_copy(original->name());
    HloInstruction* copy;
    if (arena != nullptr) {
      copy =
          to->AddInArena(arena, original->opcode(), original->ShapeForCopy(), {}, std::move(fields), arena->Copy(name));
    } else {
      auto owned = HloInstruction::Create(original->opcode(), original->ShapeForCopy(), {}, std::move(fields));
      owned->SetAndSanitizeName(name);
      copy = to->Take(owned.release());
    }
    original->CopyPropertiesTo(copy);
    copies[original->local_id()] = copy;
  }
  for (const HloInstruction* original : instructions()) {
    HloInstruction* const copy = copies[original->local_id()];
    copy->operands_ = Mapped(original->operands_, this, copies);
    copy->users_ = Mapped(original->users_, this, copies);
    if (!original->HasControlDependencies()) continue;
    copy->mutable_extras()->control_predecessors = Mapped(original->control_predecessors(), this, copies);
    copy->mutable_extras()->control_successors = Mapped(original->control_successors(), this, copies);
  }
  for (const HloInstruction* parameter : parameters_) to->parameters_.push_back(copies[parameter->local_id()]);
  to->root_ = Mapped(root_, copies);
  to->execution_thread_ = execution_thread_;
  to->is_fusion_computation_ = is_fusion_computation_;
  return copies;
}

std::unique_ptr<HloComputation> HloComputation::Clone(absl::string_view suffix, const HloComputationMap* computations,
                                                      HloInstructionMap* instructions_of) const {
  auto copy = std::make_unique<HloComputation>(suffix.empty() ? name_ : absl::StrCat(name_, ".", suffix));
  const auto name_of_copy = [&](absl::string_view name) { return NameWithSuffix(name, suffix); };
  const std::vector<HloInstruction*> copies = CopyInstructionsTo(copy.get(), /*arena=*/nullptr, name_of_copy,
                                                                 computations ? *computations : HloComputationMap());
  if (instructions_of != nullptr) {
    for (const HloInstruction* original : instructions()) {
      (*instructions_of)[original] = copies[original->local_id()];
    }
  }
  return copy;
}

std::unique_ptr<HloModule> HloModule::Clone(absl::string_view suffix) const {
  auto copy = std::make_unique<HloModule>("", config_);
  copy->name_ = suffix.empty() ? name_ : absl::StrCat(name_, "-", suffix);
  HloComputationMap computations;
  for (const HloComputation* original : computation_pointers_) {
    std::string name = std::string(original->name());
    if (!suffix.empty()) name = copy->computation_names_.GetUniqueName(absl::StrCat(name, ".", suffix));
    auto computation = std::make_unique<HloComputation>(name);
    computation->SetUniqueId(original->unique_id());
    computations[original] = computation.get();
    copy->AddComputation(std::move(computation), /*is_entry=*/original == entry_);
  }
  copy->next_computation_id_ = next_computation_id_;
  // Without a suffix the names stay unique. They are registered in the uniquers at the first query.
  copy->names_are_registered_ = !suffix.empty();
  const auto name_of_copy = [&](absl::string_view name) {
    return suffix.empty() ? std::string(name) : copy->instruction_names_.GetUniqueName(NameWithSuffix(name, suffix));
  };

  absl::flat_hash_map<const HloComputation*, std::vector<HloInstruction*>> instructions;
  for (const HloComputation* original : computation_pointers_) {
    HloComputation* const to = computations[original];
    instructions[original] = original->CopyInstructionsTo(to, &copy->arena_, name_of_copy, computations);
    for (const HloInstruction* instruction : original->instructions()) {
      instructions[original][instruction->local_id()]->SetUniqueId(instruction->unique_id());
    }
    to->next_instruction_id_ = original->next_instruction_id_;
  }
  // A callee knows one of its callers; which one is copied, too.
  const auto copied_caller = [&](HloInstruction* caller) -> HloInstruction* {
    const auto copies = instructions.find(caller ? caller->parent() : nullptr);
    return copies == instructions.end() ? nullptr : copies->second[caller->local_id()];
  };
  for (const auto& [original, to] : computations) {
    to->fusion_instruction_ = copied_caller(original->fusion_instruction_);
    to->async_start_ = copied_caller(original->async_start_);
  }

  if (schedule_) {
    copy->schedule_.emplace(copy.get());
    for (const auto& [original, sequence] : schedule_->sequences()) {
      copy->schedule_->set_sequence(computations[original], Mapped(sequence, original, instructions[original]));
    }
  }
  copy->alias_config_ = alias_config_;
  copy->donor_config_ = donor_config_;
  copy->frontend_attributes_ = frontend_attributes_;
  copy->stack_frame_index_ = stack_frame_index_;
  for (const OriginalValueRecoveryEntry& entry : recovery_table_) {
    copy->recovery_table_.push_back(
        {entry.old_array, entry.new_array, entry.recovery_module ? entry.recovery_module->Clone("") : nullptr});
  }
  copy->is_dynamic_ = is_dynamic_;
  copy->source_name_ = source_name_;
  copy->other_proto_fields_ = other_proto_fields_;
  return copy;
}

}  // namespace kashi
