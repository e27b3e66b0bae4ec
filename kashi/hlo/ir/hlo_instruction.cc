#include "kashi/hlo/ir/hlo_instruction.h"

#include <algorithm>
#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// From this number of users on, a removal looks its user up in a map.
constexpr size_t kManyUsers = 64;

template <typename List, typename T>
bool EraseFrom(List* list, const T& value) {
  const auto found = absl::c_find(*list, value);
  if (found == list->end()) return false;
  list->erase(found);
  return true;
}

absl::Status CheckSameShape(const HloInstruction& old_one, const HloInstruction& new_one) {
  if (ShapeUtil::CompatibleIgnoringFpPrecision(old_one.shape(), new_one.shape())) return absl::OkStatus();
  return Internal("%s of shape %s cannot take the place of %s of shape %s", new_one.name(),
                  ShapeUtil::HumanString(new_one.shape()), old_one.name(), ShapeUtil::HumanString(old_one.shape()));
}

}  // namespace

// ---- Life ----------------------------------------------------------------------------------------------------------

HloInstruction::HloInstruction(HloOpcode opcode, SharedShape shape, absl::Span<HloInstruction* const> operands,
                               HloFieldList fields)
    : opcode_(opcode),
      name_(HloOpcodeString(opcode)),
      shape_(std::move(shape)),
      operands_(operands.begin(), operands.end()),
      fields_(std::move(fields)) {
  for (HloInstruction* operand : operands_) operand->AddUser(this);
}

std::unique_ptr<HloInstruction> HloInstructionFactories::Create(HloOpcode opcode, SharedShape shape,
                                                                absl::Span<HloInstruction* const> operands,
                                                                HloFieldList fields) {
  return std::unique_ptr<HloInstruction>(new HloInstruction(opcode, std::move(shape), operands, std::move(fields)));
}

std::unique_ptr<HloInstruction> HloInstructionFactories::Create(HloOpcode opcode, const Shape& shape,
                                                                absl::Span<HloInstruction* const> operands,
                                                                HloFieldList fields) {
  return Create(opcode, SharedShape(ShapeWithText(shape)), operands, std::move(fields));
}

HloInstruction::~HloInstruction() {
  Detach();
  FreeName();
}

void HloInstruction::Detach() {
  for (HloInstruction* operand : operands_) {
    if (operand != nullptr) operand->RemoveUser(this);
  }
  operands_.clear();
  for (HloInstruction* user : users_) {
    for (HloInstruction*& operand : user->operands_) {
      if (operand == this) operand = nullptr;
    }
  }
  users_.clear();
  if (extras_) extras_->user_places.clear();
  DropAllControlDeps().IgnoreError();
}

void HloInstruction::DropAllLinks() {
  operands_.clear();
  users_.clear();
  if (!extras_) return;
  extras_->control_predecessors.clear();
  extras_->control_successors.clear();
  extras_->user_places.clear();
}

void HloInstructionDeleter::operator()(HloInstruction* instruction) const {
  if (instruction->in_arena_) {
    instruction->~HloInstruction();
  } else {
    delete instruction;
  }
}

// ---- Names ---------------------------------------------------------------------------------------------------------

void HloInstruction::FreeName() {
  if (owns_name_) delete[] name_.data();
  owns_name_ = false;
}

void HloInstruction::set_borrowed_name(absl::string_view name) {
  FreeName();
  name_ = name;
}

void HloInstruction::SetAndSanitizeName(absl::string_view name) {
  const std::string sanitized = SanitizeName(name);
  char* bytes = new char[sanitized.size()];
  std::memcpy(bytes, sanitized.data(), sanitized.size());
  FreeName();
  name_ = absl::string_view(bytes, sanitized.size());
  owns_name_ = true;
}

std::string SanitizeName(absl::string_view name) {
  std::string result(name);
  for (char& c : result) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '-' && c != '.') c = '_';
  }
  if (!result.empty() && !absl::ascii_isalpha(result[0])) result[0] = '_';
  const bool is_word = result == "tuple" || result == "buffer";  // of no type that text writes as a word
  if (primitive_util::IsPrimitiveTypeName(result) && !is_word) result += '_';
  if (absl::StartsWith(result, "__") && !absl::StartsWith(result, "__xla_")) result[0] = 'a';
  return result;
}

// ---- Where it belongs ----------------------------------------------------------------------------------------------

HloModule* HloInstruction::GetModule() const { return parent_ ? parent_->parent() : nullptr; }
bool HloInstruction::IsRoot() const { return parent_ != nullptr && parent_->root_instruction() == this; }
bool HloInstruction::IsDead() const { return users_.empty() && !IsRoot(); }
bool HloInstruction::IsFused() const { return parent_ != nullptr && parent_->IsFusionComputation(); }

bool HloPtrComparator::operator()(const HloInstruction* a, const HloInstruction* b) const {
  if (b == nullptr) return false;
  if (a == nullptr) return true;
  const HloModule* const module_a = a->GetModule();
  const HloModule* const module_b = b->GetModule();
  KASHI_CHECK((module_a == nullptr) == (module_b == nullptr)) << "only one of two instructions is in a module";
  if (module_a != module_b) return module_a->unique_id() < module_b->unique_id();
  return a->unique_id() < b->unique_id();
}

// ---- Operands and users --------------------------------------------------------------------------------------------

HloInstruction::InstructionVector HloInstruction::unique_operands() const {
  InstructionVector unique;
  absl::flat_hash_set<const HloInstruction*> seen;
  for (HloInstruction* operand : operands_) {
    if (seen.insert(operand).second) unique.push_back(operand);
  }
  return unique;
}

int64_t HloInstruction::operand_index(const HloInstruction* operand) const {
  const auto found = absl::c_find(operands_, operand);
  KASHI_CHECK(found != operands_.end()) << operand->name() << " is not an operand of " << name();
  return found - operands_.begin();
}

std::vector<int64_t> HloInstruction::OperandIndices(const HloInstruction* operand) const {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < operand_count(); ++i) {
    if (operands_[i] == operand) indices.push_back(i);
  }
  return indices;
}

bool HloInstruction::IsUserOf(const HloInstruction* instruction) const {
  return absl::c_linear_search(operands_, instruction);
}

void HloInstruction::AddUser(HloInstruction* user) {
  if (!users_.empty() && users_.back() == user) return;
  if (extras_ && !extras_->user_places.empty()) extras_->user_places.emplace(user, users_.size());
  users_.push_back(user);
}

size_t HloInstruction::FindUser(const HloInstruction* user) {
  if (users_.size() < kManyUsers) return absl::c_find(users_, user) - users_.begin();
  auto& places = mutable_extras()->user_places;
  if (places.empty()) {
    for (size_t i = 0; i < users_.size(); ++i) places.emplace(users_[i], i);
  }
  const auto found = places.find(user);
  return found == places.end() ? users_.size() : found->second;
}

// The last user moves into the gap, as in XLA.
void HloInstruction::RemoveUser(HloInstruction* user) {
  const size_t place = FindUser(user);
  if (place == users_.size()) return;
  HloInstruction* const last = users_.back();
  users_[place] = last;
  users_.pop_back();
  if (!extras_ || extras_->user_places.empty()) return;
  if (users_.size() < kManyUsers) {
    extras_->user_places.clear();
  } else {
    extras_->user_places[last] = place;
    extras_->user_places.erase(user);
  }
}

// Searches the operands of the user, because it has few.
void HloInstruction::SetOperand(int64_t operand_number, HloInstruction* new_operand) {
  HloInstruction* const old_operand = operands_[operand_number];
  if (old_operand == new_operand) return;
  const bool is_user_already = IsUserOf(new_operand);
  operands_[operand_number] = new_operand;
  if (old_operand != nullptr && !IsUserOf(old_operand)) old_operand->RemoveUser(this);
  if (!is_user_already) new_operand->AddUser(this);
}

void HloInstruction::AppendOperand(HloInstruction* operand) {
  const bool is_user_already = IsUserOf(operand);
  operands_.push_back(operand);
  if (!is_user_already) operand->AddUser(this);
}

absl::Status HloInstruction::ReplaceOperandWith(int64_t operand_number, HloInstruction* new_operand) {
  KASHI_RETURN_IF_ERROR(CheckSameShape(*operand(operand_number), *new_operand));
  return ReplaceOperandWithDifferentShape(operand_number, new_operand);
}

absl::Status HloInstruction::ReplaceOperandWithDifferentShape(int64_t operand_number, HloInstruction* new_operand) {
  if (operand_number < 0 || operand_number >= operand_count()) {
    return Internal("%s has no operand %d", name(), operand_number);
  }
  SetOperand(operand_number, new_operand);
  return absl::OkStatus();
}

absl::Status HloInstruction::ReplaceUseWith(HloInstruction* user, HloInstruction* new_producer) {
  KASHI_RETURN_IF_ERROR(CheckSameShape(*this, *new_producer));
  if (!user->IsUserOf(this)) return Internal("%s does not use %s", user->name(), name());
  for (int64_t i : user->OperandIndices(this)) user->SetOperand(i, new_producer);
  return absl::OkStatus();
}

absl::Status HloInstruction::ReplaceUseWith(HloInstruction* user, int operand_number, HloInstruction* new_producer) {
  KASHI_RETURN_IF_ERROR(CheckSameShape(*this, *new_producer));
  if (user->operand(operand_number) != this) {
    return Internal("operand %d of %s is not %s", operand_number, user->name(), name());
  }
  user->SetOperand(operand_number, new_producer);
  return absl::OkStatus();
}

absl::Status HloInstruction::ReplaceAllUsesWith(HloInstruction* new_producer, absl::string_view /*trigger*/) {
  KASHI_RETURN_IF_ERROR(CheckSameShape(*this, *new_producer));
  return ReplaceAllUsesWithDifferentShape(new_producer);
}

// If the new producer itself uses this instruction, that use stays, because otherwise it would use itself.
absl::Status HloInstruction::ReplaceAllUsesWithDifferentShape(HloInstruction* new_producer) {
  if (new_producer == this) return absl::OkStatus();
  const InstructionVector old_users = std::move(users_);
  users_.clear();
  if (extras_) extras_->user_places.clear();
  for (HloInstruction* user : old_users) {
    if (user == new_producer) continue;
    const bool is_user_already = user->IsUserOf(new_producer);
    for (HloInstruction*& operand : user->operands_) {
      if (operand == this) operand = new_producer;
    }
    if (!is_user_already) new_producer->AddUser(user);
  }
  if (new_producer->IsUserOf(this)) AddUser(new_producer);
  if (IsRoot()) parent_->set_root_instruction(new_producer, /*accept_different_shape=*/true);
  return absl::OkStatus();
}

// ---- Control dependencies ------------------------------------------------------------------------------------------

absl::Status HloInstruction::AddControlDependencyTo(HloInstruction* instruction) {
  if (instruction->parent() != parent()) {
    return Internal("%s and %s are not in the same computation", name(), instruction->name());
  }
  auto& successors = mutable_extras()->control_successors;
  auto& predecessors = instruction->mutable_extras()->control_predecessors;
  const bool is_known = successors.size() < predecessors.size() ? absl::c_linear_search(successors, instruction)
                                                                : absl::c_linear_search(predecessors, this);
  if (is_known) return absl::OkStatus();
  successors.push_back(instruction);
  predecessors.push_back(this);
  return absl::OkStatus();
}

absl::Status HloInstruction::RemoveControlDependencyTo(HloInstruction* instruction) {
  const bool is_known = EraseFrom(&mutable_extras()->control_successors, instruction) &&
                        EraseFrom(&instruction->mutable_extras()->control_predecessors, this);
  if (!is_known) return Internal("there is no control dependency of %s on %s", instruction->name(), name());
  return absl::OkStatus();
}

absl::Status HloInstruction::DropAllControlDeps() {
  if (!extras_) return absl::OkStatus();
  for (HloInstruction* successor : std::exchange(extras_->control_successors, {})) {
    EraseFrom(&successor->mutable_extras()->control_predecessors, this);
  }
  for (HloInstruction* predecessor : std::exchange(extras_->control_predecessors, {})) {
    EraseFrom(&predecessor->mutable_extras()->control_successors, this);
  }
  return absl::OkStatus();
}

// ---- Equality ------------------------------------------------------------------------------------------------------

bool HloInstruction::SameOp(const HloInstruction& other) const {
  return opcode_ == other.opcode_ && fields_.EqualExcept(other.fields_, {HloField::called_computations}) &&
         absl::c_equal(called_computations(), other.called_computations(),
                       [](const HloComputation* a, const HloComputation* b) { return *a == *b; });
}

bool HloInstruction::Identical(const HloInstruction& other,
                               const std::function<bool(const HloInstruction*, const HloInstruction*)>& eq_operands,
                               const std::function<bool(const HloComputation*, const HloComputation*)>& eq_computations,
                               bool layout_sensitive, bool sharding_sensitive, bool ignore_channel_id_values) const {
  if (this == &other) return true;
  return SameIgnoringOperands(other, eq_computations, layout_sensitive, sharding_sensitive, ignore_channel_id_values) &&
         absl::c_equal(operands_, other.operands_, eq_operands);
}

bool HloInstruction::SameIgnoringOperands(
    const HloInstruction& other,
    const std::function<bool(const HloComputation*, const HloComputation*)>& eq_computations, bool layout_sensitive,
    bool sharding_sensitive, bool ignore_channel_id_values) const {
  if (opcode_ != other.opcode_ || operand_count() != other.operand_count()) return false;
  const bool same_shape =
      shape_.SameAs(other.shape_) ||
      (layout_sensitive ? ShapeUtil::Equal(shape(), other.shape()) : ShapeUtil::Compatible(shape(), other.shape()));
  if (!same_shape || raw_backend_config_string() != other.raw_backend_config_string()) return false;
  if (sharding_sensitive && has_sharding() && other.has_sharding() && !(sharding() == other.sharding())) return false;

  absl::InlinedVector<HloField, 3> compared_apart = {HloField::called_computations};
  if (ignore_channel_id_values) {
    if (fields_.Has(HloField::channel_id) != other.fields_.Has(HloField::channel_id)) return false;
    compared_apart.push_back(HloField::channel_id);
  }
  if (!layout_sensitive && fields_.Has(HloField::literal) && other.fields_.Has(HloField::literal)) {
    if (shared_literal().is_elided() != other.shared_literal().is_elided()) return false;
    if (!literal().Equal(other.literal(), /*layout_sensitive=*/false)) return false;
    compared_apart.push_back(HloField::literal);
  }
  return fields_.EqualExcept(other.fields_, compared_apart) &&
         absl::c_equal(called_computations(), other.called_computations(), eq_computations);
}

// ---- Kinds ---------------------------------------------------------------------------------------------------------

bool HloInstruction::IsOpElementwise(HloOpcode opcode) {
  return GetHloOpcodeInfo(opcode).Has(HloOpcodeFlags::kElementwise);
}

// A fusion is elementwise if all fused instructions are; fusions may be nested.
bool HloInstruction::IsElementwise() const {
  std::vector<const HloInstruction*> unseen = {this};
  absl::flat_hash_set<const HloComputation*> fused;
  while (!unseen.empty()) {
    const HloInstruction* const instruction = unseen.back();
    unseen.pop_back();
    if (instruction->opcode() == HloOpcode::kFusion) {
      const HloComputation* const body = instruction->fused_instructions_computation();
      if (!fused.insert(body).second) continue;
      absl::c_copy_if(body->instructions(), std::back_inserter(unseen),
                      [](const HloInstruction* i) { return i->opcode() != HloOpcode::kParameter; });
    } else if (!IsOpElementwise(instruction->opcode()) && instruction->opcode() != HloOpcode::kRng) {
      return false;
    }
  }
  return true;
}

// The halves of asynchronous operations, and collectives that exchange data with other programs through a channel,
// cannot be removed, even without users.
bool HloInstruction::HasSideEffectNoRecurse() const {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(opcode_);
  if (info.Has(HloOpcodeFlags::kSideEffect | HloOpcodeFlags::kRandom | HloOpcodeFlags::kAsyncCollective)) return true;
  if (opcode_ == HloOpcode::kCustomCall) return custom_call_has_side_effect();
  if (!info.Has(HloOpcodeFlags::kCollective)) return false;
  if (constrain_layout()) return true;
  const HloModule* const module = GetModule();
  return channel_id().has_value() && !(module != nullptr && module->config().use_spmd_partitioning());
}

bool HloInstruction::HasSideEffect() const {
  if (HasSideEffectNoRecurse()) return true;
  std::vector<const HloComputation*> unseen(called_computations().begin(), called_computations().end());
  absl::flat_hash_set<const HloComputation*> seen;
  while (!unseen.empty()) {
    const HloComputation* const computation = unseen.back();
    unseen.pop_back();
    if (!seen.insert(computation).second) continue;
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->HasSideEffectNoRecurse()) return true;
      absl::c_copy(instruction->called_computations(), std::back_inserter(unseen));
    }
  }
  return false;
}

bool HloInstruction::IsCustomCall(absl::string_view target) const {
  return opcode_ == HloOpcode::kCustomCall && custom_call_target() == target;
}

bool HloInstruction::IsFusionOfKind(FusionKind kind) const {
  return opcode_ == HloOpcode::kFusion && fusion_kind() == kind;
}

// ---- Copies --------------------------------------------------------------------------------------------------------

std::string NameWithSuffix(absl::string_view name, absl::string_view suffix) {
  if (suffix.empty()) return std::string(name);
  const std::string dot_suffix = absl::StrCat(".", suffix);
  const size_t at = name.rfind(dot_suffix);
  if (at == absl::string_view::npos) return absl::StrCat(name, dot_suffix);
  const absl::string_view behind = name.substr(at + dot_suffix.size());
  if (behind.empty()) return absl::StrCat(name, "2");
  uint32_t number;
  if (!absl::c_all_of(behind, absl::ascii_isdigit) || !absl::SimpleAtoi(behind, &number)) {
    return absl::StrCat(name, dot_suffix);
  }
  return absl::StrCat(name.substr(0, at), dot_suffix, int64_t{number} + 1);
}

void HloInstruction::CopyPropertiesTo(HloInstruction* copy) const {
  copy->text_place_ = text_place_;
  copy->metadata_ = metadata_;
  copy->backend_config_ = backend_config_;
  if (!extras_) return;
  HloInstructionExtras* to = copy->mutable_extras();
  to->sharding = extras_->sharding;
  to->frontend_attributes = extras_->frontend_attributes;
  to->statistics_viz = extras_->statistics_viz;
  to->original_value = extras_->original_value;
  to->parameter_replicated_at_leaf_buffers = extras_->parameter_replicated_at_leaf_buffers;
  to->unknown_attributes = extras_->unknown_attributes;
}

// Otherwise callers with a pointer to the shape could write to the shape of the copy.
SharedShape HloInstruction::ShapeForCopy() const {
  return shape_->may_be_written() ? SharedShape(ShapeWithText(shape())) : shape_;
}

std::unique_ptr<HloInstruction> HloInstruction::CloneWithNewOperands(const Shape& new_shape,
                                                                     absl::Span<HloInstruction* const> new_operands,
                                                                     absl::string_view suffix) const {
  const bool same_shape = &new_shape == &shape();
  std::unique_ptr<HloInstruction> copy =
      Create(opcode_, same_shape ? ShapeForCopy() : SharedShape(ShapeWithText(new_shape)), new_operands, fields_);
  CopyPropertiesTo(copy.get());
  copy->SetAndSanitizeName(NameWithSuffix(name(), suffix));
  return copy;
}

std::unique_ptr<HloInstruction> HloInstruction::Clone(absl::string_view suffix) const {
  return CloneWithNewOperands(shape(), operands_, suffix);
}

}  // namespace kashi
