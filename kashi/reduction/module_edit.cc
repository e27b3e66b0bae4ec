#include "kashi/reduction/module_edit.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/literal/literal_util.h"
#include "kashi/reduction/async_ends.h"
#include "kashi/reduction/dead_code.h"
#include "kashi/reduction/module_size.h"

namespace kashi::reduction {
namespace {

std::vector<HloInstruction*> OutputsOf(const HloComputation& entry) {
  HloInstruction* const root = entry.root_instruction();
  if (root->opcode() != HloOpcode::kTuple) return {root};
  return {root->operands().begin(), root->operands().end()};
}

}  // namespace

// ---- The copy -------------------------------------------------------------------------------------------------------

ModuleEdit::ModuleEdit(const HloModule& original) : original_(original), module_(original.Clone(/*suffix=*/"")) {
  for (size_t i = 0; i < original.computations().size(); ++i) {
    const HloComputation* const from = original.computations()[i];
    const HloComputation* const to = module_->computations()[i];
    numbers_[from] = i;
    copies_.emplace_back(to->instructions().begin(), to->instructions().end());
    for (const HloInstruction* instruction : to->instructions()) {
      if (instruction->user_count() == 0) unused_before_.insert(instruction);
    }
    if (!original.has_schedule()) continue;
    int64_t place = 0;
    for (const HloInstruction* instruction : original.InstructionOrder(*from)) {
      places_[copies_[i][instruction->local_id()]] = ++place;
    }
  }
  old_parameters_ = entry()->parameter_instructions();
  old_outputs_ = OutputsOf(*entry());
  old_root_ = entry()->root_instruction();
  had_tuple_ = old_root_->opcode() == HloOpcode::kTuple;
  parameter_count_ = entry()->num_parameters();
}

HloInstruction* ModuleEdit::CopyOf(const HloInstruction& original) const {
  return copies_[numbers_.at(original.parent())][original.local_id()];
}

HloComputation* ModuleEdit::CopyOf(const HloComputation& original) const {
  return module_->computations()[numbers_.at(&original)];
}

// ---- New instructions -----------------------------------------------------------------------------------------------

HloInstruction* ModuleEdit::Add(std::unique_ptr<HloInstruction> instruction, HloInstruction* near,
                                absl::string_view name) {
  HloInstruction* const added = near->parent()->AddInstruction(std::move(instruction), name);
  if (const auto place = places_.find(near); place != places_.end()) {
    const int64_t same = place->second;
    places_[added] = same;
  }
  return added;
}

HloInstruction* ModuleEdit::AddInput(const HloInstruction& value) {
  HloFieldList fields;
  fields.Set<HloField::parameter_number>(parameter_count_++);
  const std::string name = module_->instruction_name_uniquer().GetUniqueName(value.name());
  HloInstruction* const input = entry()->AddInArena(module_->arena(), HloOpcode::kParameter, value.shared_shape(), {},
                                                    std::move(fields), module_->arena()->Copy(name));
  if (value.has_sharding()) input->set_sharding(value.sharding_ptr());
  TakeName(input, value);
  return input;
}

bool HasNumbers(const Shape& shape) {
  if (shape.IsTuple()) return absl::c_all_of(shape.tuple_shapes(), HasNumbers);
  if (shape.IsToken()) return true;
  return shape.IsArrayExcludingBuffer() && shape.is_static() && shape.element_type() != F8E8M0FNU;  // has no zero
}

absl::StatusOr<HloInstruction*> ModuleEdit::AddNumbers(const Shape& shape, int number, HloInstruction* near) {
  if (shape.IsToken()) return Add(HloInstruction::CreateToken(), near);
  if (shape.IsTuple()) {
    std::vector<HloInstruction*> elements;
    for (const Shape& part : shape.tuple_shapes()) {
      KASHI_ASSIGN_OR_RETURN(HloInstruction * element, AddNumbers(part, number, near));
      elements.push_back(element);
    }
    return Add(HloInstruction::CreateTuple(elements), near);
  }
  if (!HasNumbers(shape)) return Unimplemented("there is no constant of the shape %s", ShapeUtil::HumanString(shape));
  const Literal scalar = number == 0 ? LiteralUtil::Zero(shape.element_type()) : LiteralUtil::One(shape.element_type());
  if (shape.rank() > 0 && ShapeUtil::ElementsIn(shape) > kMostNumbersInText) {
    HloInstruction* const one = Add(HloInstruction::CreateConstant(scalar.Clone()), near);
    return Add(HloInstruction::CreateBroadcast(shape, one, {}), near);
  }
  KASHI_ASSIGN_OR_RETURN(Literal numbers,
                         scalar.Broadcast(ShapeUtil::MakeShape(shape.element_type(), shape.dimensions()), {}));
  return Add(HloInstruction::CreateConstant(std::move(numbers)), near);
}

HloInstruction* ModuleEdit::AddElement(HloInstruction* tuple, int64_t i, HloInstruction* near) {
  if (tuple->opcode() == HloOpcode::kTuple) return tuple->mutable_operand(i);
  return Add(HloInstruction::CreateGetTupleElement(tuple, i), near);
}

HloInstruction* ModuleEdit::AddBody(const HloComputation& body, absl::Span<HloInstruction* const> arguments,
                                    HloInstruction* near) {
  absl::flat_hash_map<const HloInstruction*, HloInstruction*> copies;
  for (const HloInstruction* instruction : body.MakeInstructionPostOrder()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      copies[instruction] = arguments[instruction->parameter_number()];
      continue;
    }
    std::vector<HloInstruction*> operands;
    for (const HloInstruction* operand : instruction->operands()) operands.push_back(copies.at(operand));
    HloInstruction* const copy =
        Add(instruction->CloneWithNewOperands(instruction->shape(), operands), near, instruction->name());
    if (IsDropped(instruction)) Drop(copy);
    copies[instruction] = copy;
  }
  return copies.at(body.root_instruction());
}

// ---- Changes --------------------------------------------------------------------------------------------------------

void ModuleEdit::Replace(HloInstruction* instruction, HloInstruction* by) {
  instruction->ReplaceAllUsesWithDifferentShape(by).IgnoreError();  // there is none
  replaced_by_[instruction] = by;
  Drop(instruction);
  for (HloInstruction* x = BeginningOf(*instruction); x != nullptr && x->user_count() == 1; x = BeginningOf(*x))
    Drop(x);
}

HloInstruction* ModuleEdit::InPlaceOf(HloInstruction* instruction) const {
  for (auto by = replaced_by_.find(instruction); by != replaced_by_.end(); by = replaced_by_.find(instruction)) {
    instruction = by->second;
  }
  return instruction;
}

void ModuleEdit::DropOperands(HloInstruction* call, absl::Span<const int64_t> numbers) {
  std::vector<HloInstruction*> operands;
  for (int64_t i = 0; i < call->operand_count(); ++i) {
    if (!absl::c_binary_search(numbers, i)) operands.push_back(call->mutable_operand(i));
  }
  for (const int64_t i : numbers) Drop(call->called_computations()[0]->parameter_instruction(i));
  HloInstruction* const smaller = Add(call->CloneWithNewOperands(call->shape(), operands), call);
  smaller->mutable_fields()->Erase(HloField::output_operand_aliasing);  // it counts operands
  const std::vector<HloInstruction*> predecessors = call->control_predecessors();
  const std::vector<HloInstruction*> successors = call->control_successors();
  for (HloInstruction* x : predecessors) x->AddControlDependencyTo(smaller).IgnoreError();
  for (HloInstruction* x : successors) smaller->AddControlDependencyTo(x).IgnoreError();
  TakeName(smaller, *call);
  Replace(call, smaller);
}

void ModuleEdit::SetShape(HloInstruction* instruction, const Shape& shape) {
  instruction->set_shared_shape(SharedShape(ShapeWithText(shape)));
  reshaped_.insert(instruction);
}

std::vector<HloInstruction*> ModuleEdit::Outputs() const { return OutputsOf(*module_->entry_computation()); }

std::vector<int64_t> ModuleEdit::OldNumbersOf(absl::Span<HloInstruction* const> outputs) const {
  absl::flat_hash_map<const HloInstruction*, int64_t> numbers;
  for (size_t i = 0; i < old_outputs_.size(); ++i) numbers.emplace(old_outputs_[i], i);
  std::vector<int64_t> result;
  for (const HloInstruction* output : outputs) {
    const auto number = numbers.find(output);
    const bool is_known = number != numbers.end() && !reshaped_.contains(output);
    result.push_back(is_known ? number->second : -1);
    if (is_known) numbers.erase(number);  // an alias belongs to one of two equal outputs
  }
  return result;
}

std::vector<int64_t> ModuleEdit::OldNumbersOfParameters() const {
  absl::flat_hash_map<const HloInstruction*, int64_t> numbers;
  for (size_t i = 0; i < old_parameters_.size(); ++i) numbers.emplace(old_parameters_[i], i);
  std::vector<int64_t> result;
  for (const HloInstruction* parameter : module_->entry_computation()->parameter_instructions()) {
    const auto number = numbers.find(parameter);
    result.push_back(number == numbers.end() || reshaped_.contains(parameter) ? -1 : number->second);
  }
  return result;
}

std::shared_ptr<const HloSharding> ModuleEdit::ShardingOf(absl::Span<HloInstruction* const> outputs) const {
  if (!old_root_->has_sharding() || !had_tuple_) return nullptr;
  const std::vector<HloSharding>& old = old_root_->sharding().tuple_elements();
  if (old.size() != old_outputs_.size()) return nullptr;
  const std::vector<int64_t> numbers = OldNumbersOf(outputs);
  std::vector<HloSharding> elements;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i]->shape().IsArray() || (numbers[i] < 0 && !outputs[i]->has_sharding())) return nullptr;
    elements.push_back(numbers[i] >= 0 ? old[numbers[i]] : outputs[i]->sharding());
  }
  return std::make_shared<const HloSharding>(HloSharding::FlatTuple(std::move(elements)));
}

void ModuleEdit::SetOutputs(absl::Span<HloInstruction* const> outputs) {
  HloInstruction* const root = entry()->root_instruction();
  if (root->opcode() == HloOpcode::kTuple && outputs.size() != 1 && absl::MakeConstSpan(root->operands()) == outputs) {
    return;
  }
  HloInstruction* result = outputs.size() == 1 ? outputs[0] : nullptr;
  if (result == nullptr) {
    result = Add(HloInstruction::CreateTuple(outputs), root);
    if (!outputs.empty()) result->set_sharding(ShardingOf(outputs));
  }
  SetRoot(result);
}

void ModuleEdit::SetRoot(HloInstruction* root) {
  HloInstruction* const before = entry()->root_instruction();
  entry()->set_root_instruction(root, /*accept_different_shape=*/true);
  if (before != root && before->user_count() == 0 && before->opcode() != HloOpcode::kParameter) Drop(before);
}

void ModuleEdit::SetEntry(HloComputation* computation) {
  computation->SetFusionInstruction(nullptr);
  computation->set_is_fusion_computation(false);
  computation->SetAsyncStart(nullptr);
  absl::flat_hash_set<const HloComputation*> done;
  computation->SpreadExecutionThread(kMainExecutionThread, &done);
  module_->ReplaceEntryComputation(computation);
  old_parameters_.clear();
  old_outputs_.clear();
  parameter_count_ = computation->num_parameters();
}

// ---- The end --------------------------------------------------------------------------------------------------------

namespace {

// The parameters that the root does not depend on.
std::vector<int64_t> UnusedParameters(const HloComputation& computation) {
  absl::flat_hash_set<const HloInstruction*> seen = {computation.root_instruction()};
  std::vector<const HloInstruction*> unseen = {computation.root_instruction()};
  while (!unseen.empty()) {
    const HloInstruction* const next = unseen.back();
    unseen.pop_back();
    for (const HloInstruction* operand : next->operands()) {
      if (seen.insert(operand).second) unseen.push_back(operand);
    }
  }
  std::vector<int64_t> unused;
  for (int64_t i = 0; i < computation.num_parameters(); ++i) {
    if (!seen.contains(computation.parameter_instruction(i))) unused.push_back(i);
  }
  return unused;
}

}  // namespace

// The verifier wants each parameter of a fusion to be used. Callees first: a fusion in a fusion may use less now.
void ModuleEdit::DropUnusedFusionOperands() {
  for (const HloComputation* computation : module_->MakeComputationPostOrder()) {
    const std::vector<HloInstruction*> instructions = computation->instructions();
    for (HloInstruction* fusion : instructions) {
      if (fusion->opcode() != HloOpcode::kFusion || IsDropped(fusion)) continue;
      const HloComputation& callee = *fusion->called_computations()[0];
      if (callee.FusionInstruction() != fusion || callee.num_parameters() != fusion->operand_count()) continue;
      const std::vector<int64_t> unused = UnusedParameters(callee);
      if (!unused.empty()) DropOperands(fusion, unused);
    }
  }
}

void ModuleEdit::RemoveDeadCode() {
  const auto stays = [this](const HloInstruction* x) {
    return x->opcode() == HloOpcode::kParameter || (unused_before_.contains(x) && !dropped_.contains(x));
  };
  reduction::RemoveDeadCode(module_.get(), stays);
}

absl::Status ModuleEdit::RemoveDropped() {
  RemoveDeadCode();  // it may be what uses a dropped instruction
  for (HloComputation* computation : module_->computations()) {
    const auto is_dropped = [this](const HloInstruction* x) { return dropped_.contains(x); };
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!is_dropped(instruction)) continue;
      if (instruction->IsRoot() || !absl::c_all_of(instruction->users(), is_dropped)) {
        return Internal("%s has users, so it cannot go", instruction->name());
      }
    }
    computation->RemoveDeadInstructions(is_dropped);
  }
  RemoveDeadCode();
  for (HloComputation* computation : module_->computations()) computation->Cleanup();
  return absl::OkStatus();
}

void ModuleEdit::GiveWantedNames() {
  if (wanted_names_.empty()) return;
  absl::flat_hash_set<absl::string_view> names;
  absl::flat_hash_set<const HloInstruction*> left;
  for (const HloComputation* computation : module_->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      names.insert(instruction->name());
      left.insert(instruction);
    }
  }
  for (const auto& [instruction, name] : wanted_names_) {
    if (!left.contains(instruction) || names.contains(name)) continue;
    instruction->set_borrowed_name(module_->arena()->Copy(name));
    names.insert(instruction->name());
  }
}

// Operands and control predecessors first; among instructions that are ready, the one with the earliest place.
void ModuleEdit::RepairSchedule() {
  if (!original_.has_schedule() || !module_->has_schedule()) return;
  using Ready = std::tuple<int64_t, int32_t, HloInstruction*>;  // place, local id
  HloSchedule schedule(module_.get());
  for (const HloComputation* computation : module_->MakeNonfusionComputations()) {
    absl::flat_hash_map<const HloInstruction*, int64_t> missing;
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    const auto make_ready = [&](HloInstruction* x) {
      const auto place = places_.find(x);
      ready.emplace(place == places_.end() ? 0 : place->second, x->local_id(), x);
    };
    for (HloInstruction* x : computation->instructions()) {
      const int64_t count = static_cast<int64_t>(x->unique_operands().size() + x->control_predecessors().size());
      missing[x] = count;
      if (count == 0) make_ready(x);
    }
    std::vector<HloInstruction*> sequence;
    while (!ready.empty()) {
      HloInstruction* const next = std::get<HloInstruction*>(ready.top());
      ready.pop();
      sequence.push_back(next);
      const auto has_seen = [&](HloInstruction* user) {
        if (--missing[user] == 0) make_ready(user);
      };
      absl::c_for_each(next->users(), has_seen);
      absl::c_for_each(next->control_successors(), has_seen);
    }
    schedule.set_sequence(computation, std::move(sequence));
  }
  module_->set_unverified_schedule(std::move(schedule));
}

void ModuleEdit::RepairEntryLayout() {
  if (!original_.config().has_entry_computation_layout()) return;
  const ComputationLayout& before = original_.config().entry_computation_layout();
  const HloInstruction* const root = entry()->root_instruction();
  Shape result = root->shape();
  if (root == old_root_ && !reshaped_.contains(root)) {
    result = before.result_shape();
  } else if (had_tuple_ && root->opcode() == HloOpcode::kTuple && before.result_shape().IsTuple()) {
    const std::vector<int64_t> numbers = OldNumbersOf(Outputs());
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0 || numbers[i] >= before.result_shape().tuple_shapes_size()) continue;
      *result.mutable_tuple_shapes(static_cast<int>(i)) =
          before.result_shape().tuple_shapes(static_cast<int>(numbers[i]));
    }
  }
  ComputationLayout layout{ShapeLayout(std::move(result))};
  const std::vector<int64_t> numbers = OldNumbersOfParameters();
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_known = numbers[i] >= 0 && numbers[i] < before.parameter_count();
    layout.add_parameter_layout(is_known
                                    ? before.parameter_layout(numbers[i])
                                    : ShapeLayout(entry()->parameter_instruction(static_cast<int64_t>(i))->shape()));
  }
  module_->mutable_config().set_entry_computation_layout(std::move(layout));
}

// New parameters and outputs are as the last one was.
void ModuleEdit::RepairPropagation() {
  using List = HloModuleConfig::BoolList;
  const auto chosen = [](const List& before, const std::vector<int64_t>& numbers) {
    if (before.size() <= 1) return before;
    List after;
    for (const int64_t number : numbers) {
      const bool is_known = number >= 0 && number < static_cast<int64_t>(before.size());
      after.push_back(is_known ? before[number] : before.back());
    }
    return after.empty() ? List{before.back()} : after;
  };
  const HloModuleConfig& before = original_.config();
  HloModuleConfig& after = module_->mutable_config();
  after.set_allow_spmd_sharding_propagation_to_parameters(
      chosen(before.allow_spmd_sharding_propagation_to_parameters(), OldNumbersOfParameters()));
  after.set_allow_spmd_sharding_propagation_to_output(
      chosen(before.allow_spmd_sharding_propagation_to_output(), OldNumbersOf(Outputs())));
}

void ModuleEdit::RepairAliases() {
  absl::flat_hash_map<int64_t, int64_t> parameters, outputs;  // from old numbers to new ones
  const std::vector<int64_t> old_parameters = OldNumbersOfParameters();
  for (size_t i = 0; i < old_parameters.size(); ++i) parameters.emplace(old_parameters[i], i);
  const std::vector<int64_t> old_outputs = OldNumbersOf(Outputs());
  for (size_t i = 0; i < old_outputs.size(); ++i) outputs.emplace(old_outputs[i], i);
  const bool has_tuple = entry()->root_instruction()->opcode() == HloOpcode::kTuple;

  HloInputOutputAliasConfig aliases(module_->result_shape());
  for (const auto& [old_index, alias] : original_.input_output_alias_config().aliases()) {
    const auto parameter = parameters.find(alias.parameter_number);
    if (parameter == parameters.end() || (had_tuple_ && old_index.empty())) continue;
    const auto output = outputs.find(had_tuple_ ? old_index[0] : 0);
    if (output == outputs.end()) continue;
    ShapeIndex index(old_index.begin() + (had_tuple_ ? 1 : 0), old_index.end());
    if (has_tuple) index.push_front(output->second);
    // An index that does not exist any more has no alias.
    aliases.SetUpAlias(index, parameter->second, alias.parameter_index, alias.kind).IgnoreError();
  }
  HloBufferDonorConfig donors;
  for (const HloBufferDonorConfig::BufferDonor& donor : original_.buffer_donor_config().buffer_donor()) {
    const auto parameter = parameters.find(donor.param_number);
    if (parameter != parameters.end()) donors.AddBufferDonor(parameter->second, donor.param_index);
  }
  module_->set_input_output_alias_config(std::move(aliases));
  module_->set_buffer_donor_config(std::move(donors));
}

absl::StatusOr<std::unique_ptr<HloModule>> ModuleEdit::Finish() && {
  KASHI_RETURN_IF_ERROR(entry()->FinishParameters());
  DropUnusedFusionOperands();
  KASHI_RETURN_IF_ERROR(RemoveDropped());
  GiveWantedNames();
  RepairSchedule();
  RepairEntryLayout();
  RepairPropagation();
  RepairAliases();
  for (const auto change : changes_at_end_) change(module_.get());
  return std::move(module_);
}

}  // namespace kashi::reduction
