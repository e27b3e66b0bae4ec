#include "kashi/hlo/ir/hlo_computation.h"

#include <algorithm>
#include <new>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

using base::Arena;

// ---- Building ------------------------------------------------------------------------------------------------------

// From the last to the first, so that each instruction has no users when it is destroyed.
HloComputation::Builder::~Builder() {
  while (!instructions_.empty()) instructions_.pop_back();
}

HloInstruction* HloComputation::Builder::AddInstruction(std::unique_ptr<HloInstruction> instruction) {
  instructions_.push_back(std::move(instruction));
  return last_added_ = instructions_.back().get();
}

HloInstruction* HloComputation::Builder::AddInstruction(std::unique_ptr<HloInstruction> instruction,
                                                        std::optional<absl::string_view> new_name) {
  if (new_name) instruction->SetAndSanitizeName(*new_name);
  return AddInstruction(std::move(instruction));
}

absl::StatusOr<HloInstruction*> HloComputation::Builder::AddParameter(std::unique_ptr<HloInstruction> parameter) {
  KASHI_CHECK(parameter->opcode() == HloOpcode::kParameter) << parameter->name();
  const int64_t number = parameter->parameter_number();
  if (!parameter_numbers_.insert(number).second) {
    return Internal("Duplicate parameter number %d for instruction %s", number, parameter->name());
  }
  return AddInstruction(std::move(parameter));
}

std::unique_ptr<HloComputation> HloComputation::Builder::Build(HloInstruction* root_instruction) {
  KASHI_CHECK(last_added_ != nullptr) << "computation " << name_ << " has no instruction";
  HloInstruction* const root = root_instruction ? root_instruction : last_added_;
  auto computation = std::make_unique<HloComputation>(name_);
  for (auto& instruction : instructions_) computation->Take(instruction.release());
  instructions_.clear();
  last_added_ = nullptr;
  KASHI_CHECK(root->parent() == computation.get()) << root->name() << " is not in computation " << name_;
  computation->root_ = root;
  KASHI_CHECK_OK(computation->FinishParameters());
  return computation;
}

// All links go first. Otherwise each instruction would look for itself among the users of its operands.
HloComputation::~HloComputation() {
  for (HloInstruction* instruction : instructions()) instruction->DropAllLinks();
  for (HloInstruction* instruction : instructions()) HloInstructionDeleter()(instruction);
}

void HloComputation::SetAndSanitizeName(absl::string_view name) { name_ = SanitizeName(name); }

HloInstruction* HloComputation::Take(HloInstruction* instruction) {
  KASHI_CHECK(instruction->parent_ == nullptr) << instruction->name() << " is in another computation";
  instruction->parent_ = this;
  instruction->local_id_ = static_cast<int32_t>(instructions_.size());
  instruction->unique_id_ =
      HloInstruction::CalculateUniqueId(static_cast<int32_t>(unique_id_), static_cast<int32_t>(next_instruction_id_++));
  instructions_.push_back(instruction);
  if (parent_ != nullptr || instruction->in_arena_) NoteCallees(instruction);
  return instruction;
}

// Not called for a computation outside of any module, which may be deleted without notice.
void HloComputation::NoteCallees(HloInstruction* instruction) {
  if (instruction->opcode() != HloOpcode::kFusion && instruction->opcode() != HloOpcode::kAsyncStart) return;
  for (HloComputation* callee : instruction->called_computations()) {
    if (instruction->opcode() == HloOpcode::kFusion) {
      callee->SetFusionInstruction(instruction);
    } else {
      callee->SetAsyncStart(instruction);
    }
  }
}

void HloComputation::ForgetCallees(const HloInstruction* instruction) {
  for (HloComputation* callee : instruction->called_computations()) {
    if (callee->fusion_instruction_ == instruction) callee->fusion_instruction_ = nullptr;
    if (callee->async_start_ == instruction) callee->async_start_ = nullptr;
  }
}

HloInstruction* HloComputation::AddInstruction(std::unique_ptr<HloInstruction> instruction,
                                               absl::string_view new_name) {
  KASHI_CHECK(instruction->opcode() != HloOpcode::kParameter) << instruction->name() << ": use AddParameter";
  if (!new_name.empty()) instruction->SetAndSanitizeName(new_name);
  if (parent_ != nullptr) parent_->RegisterNames();
  HloInstruction* const taken = Take(instruction.release());
  if (parent_ != nullptr) parent_->SetAndUniquifyInstrName(taken, taken->name());
  return taken;
}

HloInstruction* HloComputation::AddParameter(std::unique_ptr<HloInstruction> parameter) {
  KASHI_CHECK(parameter->opcode() == HloOpcode::kParameter) << parameter->name();
  KASHI_CHECK_EQ(parameter->parameter_number(), num_parameters());
  KASHI_CHECK(!IsEntryComputation()) << name_;
  if (parent_ != nullptr) parent_->RegisterNames();
  HloInstruction* const taken = Take(parameter.release());
  parameters_.push_back(taken);
  if (parent_ != nullptr) parent_->SetAndUniquifyInstrName(taken, taken->name());
  return taken;
}

void HloComputation::SpreadExecutionThread(absl::string_view thread, absl::flat_hash_set<const HloComputation*>* done) {
  std::vector<HloComputation*> unseen = {this};
  while (!unseen.empty()) {
    HloComputation* const computation = unseen.back();
    unseen.pop_back();
    if (!done->insert(computation).second) continue;
    computation->SetExecutionThread(thread);
    for (HloInstruction* instruction : computation->instructions()) {
      const auto callees = instruction->called_computations();
      if (callees.empty()) continue;
      unseen.insert(unseen.end(), callees.begin(), callees.end());
      if (instruction->opcode() == HloOpcode::kAsyncStart) instruction->SetAsyncExecutionThread(thread);
    }
  }
}

HloInstruction* HloComputation::AddInArena(Arena* arena, HloOpcode opcode, SharedShape shape,
                                           absl::Span<HloInstruction* const> operands, HloFieldList fields,
                                           absl::string_view name) {
  void* const memory = arena->Allocate(sizeof(HloInstruction), alignof(HloInstruction));
  auto* const instruction = new (memory) HloInstruction(opcode, std::move(shape), operands, std::move(fields));
  instruction->in_arena_ = true;
  instruction->name_ = name;
  return Take(instruction);
}

absl::Status HloComputation::FinishParameters() {
  parameters_.clear();
  for (HloInstruction* instruction : instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) parameters_.push_back(instruction);
  }
  absl::c_stable_sort(parameters_, [](const HloInstruction* a, const HloInstruction* b) {
    return a->parameter_number() < b->parameter_number();
  });
  for (int64_t i = 0; i < num_parameters(); ++i) {
    const int64_t number = parameters_[i]->parameter_number();
    if (number == i) continue;
    if (number < i) return InvalidArgument("computation %s has two parameters %d, or a negative one", name_, number);
    return InvalidArgument("computation %s has a parameter %d, but no parameter %d", name_, number, i);
  }
  return absl::OkStatus();
}

void HloComputation::set_root_instruction(HloInstruction* root, bool accept_different_shape) {
  KASHI_CHECK(root->parent() == this) << root->name() << " is not in computation " << name_;
  KASHI_CHECK(root_ == nullptr || accept_different_shape || ShapeUtil::Compatible(root->shape(), root_->shape()))
      << root->shape() << " is not compatible with " << root_->shape();
  root_ = root;
}

// ---- Removing and replacing ----------------------------------------------------------------------------------------

bool HloComputation::IsSafelyRemovable(const HloInstruction* instruction) const {
  if (instruction->HasControlDependencies()) return false;
  return instruction->opcode() != HloOpcode::kParameter || IsFusionComputation();
}

absl::Status HloComputation::CheckRemovable(const HloInstruction* instruction) const {
  const auto error = [&](absl::string_view why) {
    return Internal("cannot remove %s: it %s", instruction->name(), why);
  };
  if (instruction->parent() != this) return error("is in another computation");
  if (instruction == root_) return error("is the root");
  if (instruction->user_count() > 0) return error("has users");
  if (instruction->HasControlDependencies()) return error("has control dependencies");
  if (!IsSafelyRemovable(instruction)) return error("is a parameter");
  return absl::OkStatus();
}

void HloComputation::Free(HloInstruction* instruction) {
  ForgetCallees(instruction);
  instructions_[instruction->local_id_] = nullptr;
  ++removed_count_;
  HloInstructionDeleter()(instruction);
}

absl::Status HloComputation::RemoveInstruction(HloInstruction* instruction) {
  KASHI_RETURN_IF_ERROR(CheckRemovable(instruction));
  if (parent_ != nullptr) parent_->RemoveFromSchedule(this, [&](const HloInstruction* i) { return i == instruction; });
  const bool was_parameter = instruction->opcode() == HloOpcode::kParameter;
  Free(instruction);
  if (was_parameter) RenumberParameters();
  return absl::OkStatus();
}

// The parameters of a fusion are renumbered; the caller must update the operands of the fusion.
void HloComputation::RenumberParameters() {
  parameters_.clear();
  std::vector<HloInstruction*> left;
  for (HloInstruction* instruction : instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) left.push_back(instruction);
  }
  absl::c_stable_sort(left, [](const HloInstruction* a, const HloInstruction* b) {
    return a->parameter_number() < b->parameter_number();
  });
  for (HloInstruction* parameter : left) {
    parameter->mutable_fields()->Set<HloField::parameter_number>(num_parameters());
    parameters_.push_back(parameter);
  }
}

absl::Status HloComputation::RemoveInstructionAndUnusedOperands(HloInstruction* instruction) {
  KASHI_RETURN_IF_ERROR(CheckRemovable(instruction));
  const bool was_parameter = instruction->opcode() == HloOpcode::kParameter;
  std::vector<HloInstruction*> dead = {instruction};  // users before their operands
  // An operand whose users are all dead is dead too; it is checked once per user.
  absl::flat_hash_map<const HloInstruction*, int64_t> dead_users;
  for (size_t next = 0; next < dead.size(); ++next) {
    for (HloInstruction* operand : dead[next]->unique_operands()) {
      const bool is_used = operand == nullptr || ++dead_users[operand] < operand->user_count();
      if (is_used || operand == root_ || !IsSafelyRemovable(operand) || operand->HasSideEffect()) continue;
      if (operand->opcode() != HloOpcode::kParameter) dead.push_back(operand);
    }
  }
  if (parent_ != nullptr) {
    const absl::flat_hash_set<const HloInstruction*> removed(dead.begin(), dead.end());
    parent_->RemoveFromSchedule(this, [&](const HloInstruction* i) { return removed.contains(i); });
  }
  for (HloInstruction* i : dead) Free(i);
  if (was_parameter) RenumberParameters();
  if (removed_count_ > instruction_count()) Cleanup();  // seldom, so that removals one by one take linear time
  return absl::OkStatus();
}

// Users lists are filtered once for each value rather than searched for each use.
void HloComputation::RemoveDeadInstructions(absl::FunctionRef<bool(const HloInstruction*)> is_dead) {
  std::vector<HloInstruction*> dead;
  absl::c_copy_if(instructions(), std::back_inserter(dead), is_dead);
  if (dead.empty()) return;
  const bool parameters_go = absl::c_any_of(parameters_, is_dead);
  if (parent_ != nullptr) parent_->RemoveFromSchedule(this, is_dead);
  for (HloInstruction* instruction : instructions()) {
    if (instruction->user_count() == 0 || is_dead(instruction)) continue;
    auto& users = instruction->users_;
    const auto end = std::remove_if(users.begin(), users.end(), is_dead);
    if (end == users.end()) continue;
    users.erase(end, users.end());
    if (instruction->extras_) instruction->extras_->user_places.clear();
  }
  for (HloInstruction* instruction : dead) {
    instruction->DropAllControlDeps().IgnoreError();
    instruction->DropAllLinks();
  }
  for (HloInstruction* instruction : dead) Free(instruction);
  if (parameters_go) RenumberParameters();
  Cleanup();
}

void HloComputation::Cleanup() {
  if (removed_count_ == 0) return;
  instructions_.erase(std::remove(instructions_.begin(), instructions_.end(), nullptr), instructions_.end());
  removed_count_ = 0;
  for (size_t i = 0; i < instructions_.size(); ++i) instructions_[i]->local_id_ = static_cast<int32_t>(i);
}

absl::Status HloComputation::ReplaceInstruction(HloInstruction* old_instruction, HloInstruction* new_instruction) {
  if (!ShapeUtil::Compatible(old_instruction->shape(), new_instruction->shape())) {
    return Internal("%s of shape %s cannot replace %s of shape %s", new_instruction->name(),
                    ShapeUtil::HumanString(new_instruction->shape()), old_instruction->name(),
                    ShapeUtil::HumanString(old_instruction->shape()));
  }
  KASHI_RETURN_IF_ERROR(old_instruction->ReplaceAllUsesWith(new_instruction));
  // The metadata of the old instruction still holds for the value.
  if (new_instruction->metadata().op_name().empty() && !old_instruction->metadata().op_name().empty()) {
    new_instruction->set_shared_metadata(old_instruction->metadata_);
  }
  if (new_instruction->frontend_attributes().empty() && !old_instruction->frontend_attributes().empty()) {
    new_instruction->set_frontend_attributes(old_instruction->frontend_attributes());
  }
  if (!new_instruction->has_sharding() && old_instruction->has_sharding()) {
    new_instruction->set_sharding(old_instruction->sharding_ptr());
  }
  if (old_instruction->user_count() > 0 || !IsSafelyRemovable(old_instruction)) return absl::OkStatus();
  return RemoveInstructionAndUnusedOperands(old_instruction);
}

absl::Status HloComputation::ReplaceWithNewInstruction(HloInstruction* old_instruction,
                                                       std::unique_ptr<HloInstruction> instruction) {
  return ReplaceInstruction(old_instruction, AddInstruction(std::move(instruction)));
}

// ---- What it is ----------------------------------------------------------------------------------------------------

HloInstruction* HloComputation::GetInstructionWithName(absl::string_view name) const {
  for (HloInstruction* instruction : instructions()) {
    if (instruction->name() == name) return instruction;
  }
  return nullptr;
}

bool HloComputation::IsEntryComputation() const {
  return parent_ != nullptr && parent_->has_entry_computation() && parent_->entry_computation() == this;
}

bool HloComputation::CanExpandIntoSingleInstruction() const {
  return absl::c_all_of(instructions(), [this](const HloInstruction* instruction) {
    return instruction == root_ || instruction->opcode() == HloOpcode::kParameter;
  });
}

bool HloComputation::HasSideEffect() const {
  return absl::c_any_of(instructions(), [](const HloInstruction* i) { return i->HasSideEffect(); });
}

std::vector<HloInstruction*> HloComputation::caller_instructions() const {
  std::vector<HloInstruction*> callers;
  if (parent_ == nullptr) return callers;
  for (const HloComputation* computation : parent_->computations()) {
    absl::c_copy_if(computation->instructions(), std::back_inserter(callers),
                    [this](const HloInstruction* i) { return absl::c_linear_search(i->called_computations(), this); });
  }
  return callers;
}

std::optional<HloInstruction*> HloComputation::GetUniqueCaller(HloOpcode opcode) const {
  std::optional<HloInstruction*> unique;
  for (HloInstruction* caller : caller_instructions()) {
    if (caller->opcode() != opcode) continue;
    if (unique.has_value()) return std::nullopt;
    unique = caller;
  }
  return unique;
}

ProgramShape HloComputation::ComputeProgramShape(bool include_ids) const {
  ProgramShape program_shape;
  for (const HloInstruction* parameter : parameters_) {
    const absl::string_view name = parameter->name();
    program_shape.AddParameter(parameter->shape(), std::string(include_ids ? name : name.substr(0, name.find('.'))));
  }
  *program_shape.mutable_result() = root_->shape();
  return program_shape;
}

}  // namespace kashi
