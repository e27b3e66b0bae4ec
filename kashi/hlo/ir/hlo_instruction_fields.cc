#include <cstdlib>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

// ---- Called computations -------------------------------------------------------------------------------------------

absl::Span<HloComputation* const> HloInstruction::called_computations() const {
  const ComputationVector* computations = fields_.Find<HloField::called_computations>();
  return computations ? absl::MakeConstSpan(*computations) : absl::Span<HloComputation* const>();
}

HloComputation* HloInstruction::to_apply() const {
  KASHI_CHECK(has_to_apply()) << name() << " calls " << called_computations().size() << " computations";
  return called_computations()[0];
}

void HloInstruction::set_to_apply(HloComputation* computation) { set_called_computation(0, computation); }

void HloInstruction::set_called_computation(int64_t i, HloComputation* computation) {
  KASHI_CHECK(i >= 0 && i < static_cast<int64_t>(called_computations().size()))
      << name() << " calls no computation " << i;
  if (parent_ != nullptr) parent_->ForgetCallees(this);
  (*fields_.Mutable<HloField::called_computations>())[i] = computation;
  if (parent_ != nullptr) parent_->NoteCallees(this);
}

HloComputation* HloInstruction::CalledComputation(HloOpcode opcode, int64_t i) const {
  KASHI_CHECK(opcode_ == opcode && i >= 0 && i < static_cast<int64_t>(called_computations().size()))
      << name() << ", " << opcode_ << ": computation " << i << " of " << called_computations().size() << " for "
      << opcode;
  return called_computations()[i];
}

HloInstruction* HloInstruction::fused_expression_root() const {
  return fused_instructions_computation()->root_instruction();
}

const HloInstruction* HloInstruction::async_chain_start() const {
  const HloInstruction* start = this;
  while (start->opcode_ == HloOpcode::kAsyncUpdate || start->opcode_ == HloOpcode::kAsyncDone) {
    if (start->operands_.empty()) return nullptr;
    start = start->operands_[0];
  }
  return start->opcode_ == HloOpcode::kAsyncStart ? start : nullptr;
}

const HloInstruction* HloInstruction::async_update() const {
  for (const HloInstruction* user : users_) {
    if (user->opcode_ == HloOpcode::kAsyncUpdate && user->operands_[0] == this) return user;
  }
  return nullptr;
}

HloComputation* HloInstruction::async_wrapped_computation() const {
  const HloInstruction* const start = async_chain_start();
  if (start == nullptr || start->called_computations().empty()) return nullptr;
  return start->called_computations()[0];
}

HloInstruction* HloInstruction::async_wrapped_instruction() const {
  const HloComputation* const wrapped = async_wrapped_computation();
  KASHI_CHECK(wrapped != nullptr) << name() << " has no async-start";
  return wrapped->root_instruction();
}

absl::string_view HloInstruction::async_execution_thread() const {
  const HloInstruction* const start = async_chain_start();
  const std::string* thread = start ? start->fields_.Find<HloField::async_execution_thread>() : nullptr;
  return thread ? absl::string_view(*thread) : kMainExecutionThread;
}

void HloInstruction::SetAsyncExecutionThread(absl::string_view thread) {
  KASHI_CHECK(opcode_ == HloOpcode::kAsyncStart) << name() << " is not an async-start";
  if (thread == kMainExecutionThread) {
    fields_.Erase(HloField::async_execution_thread);
  } else {
    fields_.Set<HloField::async_execution_thread>(std::string(thread));
  }
}

// ---- Fields --------------------------------------------------------------------------------------------------------

void HloInstruction::DieForLackOf(HloField field) const {
  KASHI_LOG_FATAL() << name() << ", " << opcode_ << ", has no " << HloFieldName(field);
  std::abort();  // not reached
}

const std::string& HloInstruction::EmptyString() {
  static const auto* const empty = new std::string();
  return *empty;
}

const HloInstructionExtras& HloInstruction::NoExtras() {
  static const auto* const none = new HloInstructionExtras();
  return *none;
}

absl::Span<const int64_t> HloInstruction::dimensions() const {
  if (const Int64List* dimensions = fields_.Find<HloField::dimensions>()) return *dimensions;
  if (const int64_t* dimension = fields_.Find<HloField::iota_dimension>()) return absl::MakeConstSpan(dimension, 1);
  const bool may_have_some = absl::c_any_of(GetHloOpcodeInfo(opcode_).attributes, [](const HloOpcodeAttribute& entry) {
    return entry.attribute == HloAttribute::dimensions;
  });
  if (!may_have_some) DieForLackOf(HloField::dimensions);
  return {};
}

std::optional<int64_t> HloInstruction::channel_id() const {
  const int64_t* id = fields_.Find<HloField::channel_id>();
  return id ? std::optional<int64_t>(*id) : std::nullopt;
}

void HloInstruction::set_channel_id(const std::optional<int64_t>& channel_id) {
  if (channel_id) {
    fields_.Set<HloField::channel_id>(*channel_id);
  } else {
    fields_.Erase(HloField::channel_id);
  }
}

const CollectiveDeviceList& HloInstruction::device_list() const {
  static const auto* const everybody = new CollectiveDeviceList();
  const CollectiveDeviceList* list = fields_.Find<HloField::replica_groups>();
  return list ? *list : *everybody;
}

const std::vector<ReplicaGroup>& HloInstruction::replica_groups() const { return device_list().replica_groups(); }

const Window& HloInstruction::window() const {
  const Window* window = fields_.Find<HloField::window>();
  return window ? *window : Window::default_instance();
}

const PrecisionConfig& HloInstruction::precision_config() const {
  const PrecisionConfig* config = fields_.Find<HloField::precision_config>();
  return config ? *config : PrecisionConfig::default_instance();
}

const ResultAccuracy& HloInstruction::result_accuracy() const {
  const ResultAccuracy* accuracy = fields_.Find<HloField::result_accuracy>();
  return accuracy ? *accuracy : ResultAccuracy::default_instance();
}

Comparison::Type HloInstruction::comparison_type() const {
  if (const Comparison::Type* type = fields_.Find<HloField::comparison_type>()) return *type;
  return Comparison::DefaultComparisonType(operand(0)->shape().element_type());
}

Comparison::Order HloInstruction::comparison_order() const {
  return comparison_type() == Comparison::Type::kFloat ? Comparison::Order::kPartial : Comparison::Order::kTotal;
}

std::optional<int> HloInstruction::cross_program_prefetch_index() const {
  const int32_t* index = fields_.Find<HloField::cross_program_prefetch_index>();
  return index ? std::optional<int>(*index) : std::nullopt;
}

absl::Span<const int64_t> HloInstruction::shuffle_shifts() const {
  const Int64List* shifts = fields_.Find<HloField::shuffle_shifts>();
  return shifts ? absl::MakeConstSpan(*shifts) : absl::Span<const int64_t>();
}
const OutputOperandAliasingPairs& HloInstruction::output_operand_aliasing() const {
  static const auto* const none = new OutputOperandAliasingPairs();
  const OutputOperandAliasingPairs* pairs = fields_.Find<HloField::output_operand_aliasing>();
  return pairs ? *pairs : *none;
}

// ---- Fields of any instruction -------------------------------------------------------------------------------------

namespace {

// The end of `"wait_on_operation_queues" : [ ] ,`, which begins at `begin`; npos if the text is different.
size_t EndOfEmptyWait(absl::string_view text, size_t begin, size_t key_size) {
  size_t at = begin + key_size;
  for (const char expected : {':', '[', ']', ','}) {
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
    if (at == text.size() || text[at] != expected) return absl::string_view::npos;
    ++at;
  }
  return at;
}

}  // namespace

std::string BackendConfigToKeep(std::string config) {
  constexpr absl::string_view kKey = "\"wait_on_operation_queues\"";
  size_t found = config.find(kKey.data(), 0, kKey.size());
  if (found == std::string::npos) return config;
  std::string kept;
  size_t copied = 0;
  for (; found != std::string::npos; found = config.find(kKey.data(), found, kKey.size())) {
    const size_t end = EndOfEmptyWait(config, found, kKey.size());
    if (end == absl::string_view::npos) {
      found += kKey.size();
      continue;
    }
    kept.append(config, copied, found - copied);
    copied = found = end;
  }
  return kept.append(config, copied, std::string::npos);
}

const std::string& HloInstruction::raw_backend_config_string() const {
  return backend_config_ ? *backend_config_ : EmptyString();
}

const HloSharding& HloInstruction::sharding() const {
  KASHI_CHECK(has_sharding()) << name() << " has no sharding";
  return *extras().sharding;
}

void HloInstruction::set_sharding(HloSharding sharding) {
  set_sharding(std::make_shared<const HloSharding>(std::move(sharding)));
}

void HloInstruction::clear_sharding() {
  if (extras_) extras_->sharding.reset();
}

void HloInstruction::set_frontend_attribute(absl::string_view key, absl::string_view value) {
  (*mutable_extras()->frontend_attributes.mutable_map())[std::string(key)] = std::string(value);
}

bool HloInstruction::add_frontend_attribute(absl::string_view key, absl::string_view value) {
  if (get_frontend_attribute(key).has_value()) return false;
  set_frontend_attribute(key, value);
  return true;
}

void HloInstruction::add_frontend_attributes(const FrontendAttributes& attributes) {
  for (const auto& [key, value] : attributes.map()) add_frontend_attribute(key, value);
}

size_t HloInstruction::erase_frontend_attribute(absl::string_view key) {
  return has_frontend_attributes() ? mutable_extras()->frontend_attributes.mutable_map()->erase(std::string(key)) : 0;
}

std::optional<std::string> HloInstruction::get_frontend_attribute(absl::string_view key) const {
  const auto& map = frontend_attributes().map();
  const auto found = map.find(std::string(key));
  return found == map.end() ? std::nullopt : std::optional<std::string>(found->second);
}

}  // namespace kashi
