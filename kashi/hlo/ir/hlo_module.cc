#include "kashi/hlo/ir/hlo_module.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

int NextModuleId() {
  static std::atomic<int> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

HloModule::HloModule(absl::string_view name, HloModuleConfig config)
    : name_(SanitizeName(name)), unique_id_(NextModuleId()), config_(std::move(config)) {}

HloModule::~HloModule() = default;

void HloModule::Swap(HloModule* other) {
  std::swap(name_, other->name_);
  std::swap(config_, other->config_);
  arena_.Swap(&other->arena_);
  std::swap(computations_, other->computations_);
  std::swap(computation_pointers_, other->computation_pointers_);
  std::swap(entry_, other->entry_);
  std::swap(next_computation_id_, other->next_computation_id_);
  std::swap(schedule_, other->schedule_);
  std::swap(alias_config_, other->alias_config_);
  std::swap(donor_config_, other->donor_config_);
  std::swap(frontend_attributes_, other->frontend_attributes_);
  std::swap(stack_frame_index_, other->stack_frame_index_);
  std::swap(recovery_table_, other->recovery_table_);
  std::swap(is_dynamic_, other->is_dynamic_);
  std::swap(other_proto_fields_, other->other_proto_fields_);
  std::swap(instruction_names_, other->instruction_names_);
  std::swap(computation_names_, other->computation_names_);
  std::swap(names_are_registered_, other->names_are_registered_);
  AdoptComputations();
  other->AdoptComputations();
}

void HloModule::AdoptComputations() {
  for (HloComputation* computation : computation_pointers_) computation->parent_ = this;
  if (schedule_) schedule_->set_module(this);
}

// ---- Computations --------------------------------------------------------------------------------------------------

HloComputation* HloModule::AddComputation(std::unique_ptr<HloComputation> computation, bool is_entry) {
  HloComputation* const added = computation.get();
  KASHI_CHECK(added->parent_ == nullptr) << added->name() << " is in another module";
  if (is_entry) {
    KASHI_CHECK(entry_ == nullptr) << "the module has an entry computation already: " << entry_->name();
    entry_ = added;
  }
  added->parent_ = this;
  computations_.push_back(std::move(computation));
  computation_pointers_.push_back(added);
  return added;
}

HloComputation* HloModule::AddEmbeddedComputation(std::unique_ptr<HloComputation> computation) {
  RegisterNames();
  HloComputation* const added = AddComputation(std::move(computation), /*is_entry=*/false);
  MakeUnique(added);
  return added;
}

HloComputation* HloModule::AddEntryComputation(std::unique_ptr<HloComputation> computation) {
  RegisterNames();
  HloComputation* const added = AddComputation(std::move(computation), /*is_entry=*/true);
  MakeUnique(added);
  const ProgramShape program_shape = added->ComputeProgramShape();
  if (!config_.has_entry_computation_layout()) config_.SetDefaultComputationLayout(program_shape);
  alias_config_ = HloInputOutputAliasConfig(program_shape.result());
  return added;
}

void HloModule::MakeUnique(HloComputation* computation) {
  SetAndUniquifyComputationName(computation, computation->name());
  computation->SetUniqueId(next_computation_id_++);
  for (HloInstruction* instruction : computation->instructions()) {
    computation->NoteCallees(instruction);
    SetAndUniquifyInstrName(instruction, instruction->name());
    instruction->SetUniqueId(
        HloInstruction::CalculateUniqueId(static_cast<int32_t>(computation->unique_id()), instruction->local_id()));
  }
  computation->next_instruction_id_ = static_cast<int64_t>(computation->instructions_.size());
}

HloComputation* HloModule::AddComputationAsIs(std::unique_ptr<HloComputation> computation, bool is_entry) {
  HloComputation* const added = AddComputation(std::move(computation), is_entry);
  names_are_registered_ = false;
  if (added->unique_id() < 0) added->SetUniqueId(next_computation_id_);
  next_computation_id_ = std::max(next_computation_id_, added->unique_id() + 1);
  int64_t& next_id = added->next_instruction_id_;
  for (HloInstruction* instruction : added->instructions()) {
    added->NoteCallees(instruction);
    if (instruction->unique_id() < 0) {
      instruction->SetUniqueId(
          HloInstruction::CalculateUniqueId(static_cast<int32_t>(added->unique_id()), instruction->local_id()));
    }
    next_id = std::max(next_id, (instruction->unique_id() & 0xffffffff) + 1);
  }
  return added;
}

void HloModule::ReplaceEntryComputation(HloComputation* computation) {
  KASHI_CHECK(computation->parent() == this) << computation->name() << " is not in module " << name_;
  entry_ = computation;
  const ProgramShape program_shape = computation->ComputeProgramShape();
  config_.SetDefaultComputationLayout(program_shape);
  alias_config_ = HloInputOutputAliasConfig(program_shape.result());
  donor_config_ = HloBufferDonorConfig();
}

absl::Status HloModule::RemoveEmbeddedComputation(HloComputation* computation) {
  if (computation->parent() != this) return Internal("computation %s is not in module %s", computation->name(), name_);
  if (computation == entry_) return Internal("computation %s is the entry", computation->name());
  for (const HloInstruction* caller : computation->caller_instructions()) {
    if (caller->parent() == computation) continue;
    return Internal("computation %s is called by %s", computation->name(), caller->name());
  }
  FreeComputations([&](const HloComputation* c) { return c == computation; });
  return absl::OkStatus();
}

absl::Status HloModule::RemoveUnusedComputations() {
  if (entry_ == nullptr) return FailedPrecondition("module %s has no entry computation", name_);
  const std::vector<HloComputation*> called = entry_->MakeEmbeddedComputationsList();
  absl::flat_hash_set<const HloComputation*> used(called.begin(), called.end());
  used.insert(entry_);
  FreeComputations([&](const HloComputation* c) { return !used.contains(c); });
  return absl::OkStatus();
}

// Remaining computations forget removed callers before these are freed.
void HloModule::FreeComputations(absl::FunctionRef<bool(const HloComputation*)> is_removed) {
  const auto caller_goes = [&](const HloInstruction* caller) { return caller && is_removed(caller->parent()); };
  for (HloComputation* computation : computation_pointers_) {
    if (is_removed(computation)) {
      if (schedule_) schedule_->remove_computation(computation);
      continue;
    }
    if (caller_goes(computation->fusion_instruction_)) computation->fusion_instruction_ = nullptr;
    if (caller_goes(computation->async_start_)) computation->async_start_ = nullptr;
  }
  std::vector<std::unique_ptr<HloComputation>> kept;
  computation_pointers_.clear();
  for (std::unique_ptr<HloComputation>& computation : computations_) {
    if (is_removed(computation.get())) continue;
    computation_pointers_.push_back(computation.get());
    kept.push_back(std::move(computation));
  }
  computations_ = std::move(kept);
}

int64_t HloModule::instruction_count() const {
  int64_t count = 0;
  for (const HloComputation* computation : computation_pointers_) count += computation->instruction_count();
  return count;
}

HloComputation* HloModule::GetComputationWithName(absl::string_view name) const {
  const auto found = absl::c_find_if(computation_pointers_, [&](const HloComputation* c) { return c->name() == name; });
  return found == computation_pointers_.end() ? nullptr : *found;
}

std::vector<HloComputation*> HloModule::MakeNonfusionComputations() const {
  std::vector<HloComputation*> computations = MakeComputationPostOrder();
  computations.erase(std::remove_if(computations.begin(), computations.end(),
                                    [](const HloComputation* c) { return c->IsFusionComputation(); }),
                     computations.end());
  return computations;
}

// ---- Data about the whole program ----------------------------------------------------------------------------------

ComputationLayout HloModule::compute_computation_layout() const {
  return ComputationLayout(entry_computation()->ComputeProgramShape(), /*ignore_layouts=*/false);
}

absl::Status HloModule::set_schedule(HloSchedule schedule) {
  KASHI_RETURN_IF_ERROR(schedule.Verify(*this));
  set_unverified_schedule(std::move(schedule));
  return absl::OkStatus();
}

void HloModule::RemoveFromSchedule(const HloComputation* computation,
                                   absl::FunctionRef<bool(const HloInstruction*)> is_removed) {
  if (!schedule_ || !schedule_->is_computation_scheduled(computation)) return;
  std::vector<HloInstruction*> sequence = schedule_->sequence(computation);
  sequence.erase(std::remove_if(sequence.begin(), sequence.end(), is_removed), sequence.end());
  schedule_->set_sequence(computation, std::move(sequence));
}

std::vector<HloInstruction*> HloModule::InstructionOrder(const HloComputation& computation) const {
  const std::vector<HloInstruction*>* sequence = schedule_ ? schedule_->Find(&computation) : nullptr;
  return sequence ? *sequence : computation.MakeInstructionPostOrder();
}

// ---- Names ---------------------------------------------------------------------------------------------------------

void HloModule::RegisterNames() {
  if (names_are_registered_) return;
  names_are_registered_ = true;
  for (const HloComputation* computation : computation_pointers_) {
    computation_names_.Register(computation->name());
    for (const HloInstruction* instruction : computation->instructions()) {
      instruction_names_.Register(instruction->name());
    }
  }
}

void HloModule::MakeNamesUnique() {
  names_are_registered_ = true;
  instruction_names_ = computation_names_ = NameUniquer(".");
  for (HloComputation* computation : computation_pointers_) {
    SetAndUniquifyComputationName(computation, computation->name());
    for (HloInstruction* instruction : computation->instructions()) {
      SetAndUniquifyInstrName(instruction, instruction->name());
    }
  }
}

void HloModule::SetAndUniquifyInstrName(HloInstruction* instruction, absl::string_view name) {
  const std::string unique_name = instruction_name_uniquer().GetUniqueName(name);
  if (unique_name != instruction->name() || instruction->owns_name_) {
    instruction->set_borrowed_name(arena_.Copy(unique_name));
  }
}

void HloModule::SetAndUniquifyComputationName(HloComputation* computation, absl::string_view name) {
  computation->set_name(computation_name_uniquer().GetUniqueName(name));
}

absl::Status HloModule::CheckUniqueNamesAndIdsForComputationsAndInstructions() const {
  absl::flat_hash_set<absl::string_view> computation_names, instruction_names;
  absl::flat_hash_set<int64_t> computation_ids, instruction_ids;
  for (const HloComputation* computation : computation_pointers_) {
    if (!computation_names.insert(computation->name()).second) {
      return FailedPrecondition("Computation name is not unique: %s", computation->name());
    }
    if (!computation_ids.insert(computation->unique_id()).second) {
      return FailedPrecondition("Computation id is not unique: %d", computation->unique_id());
    }
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!instruction_names.insert(instruction->name()).second) {
        return FailedPrecondition("Instruction name is not unique: %s", instruction->name());
      }
      if (!instruction_ids.insert(instruction->unique_id()).second) {
        return FailedPrecondition("Instruction id is not unique: %d", instruction->unique_id());
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi
