// HloModule and HloModuleProto: ToProto, CreateFromProto, CreateModuleConfigFromProto.
//
// Fields that a proto has and a module has not are kept as bytes (HloModule::other_proto_fields); ToProto writes them.
// Data that a module has and a proto has not (replica and partition counts, and other parts of the config but layouts)
// is not in ToProto, as in XLA's; files have it (module_settings_proto.h). Payloads come back in the places that name
// them.

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/proto/hlo_proto_reader.h"
#include "kashi/proto/original_value_proto.h"
#include "kashi/proto/records_proto.h"

namespace kashi {
namespace {

// Modules within modules, in recovery tables.
constexpr int kMaxModuleDepth = 16;

// ---- Writing --------------------------------------------------------------------------------------------------------

bool CalleesHaveSmallerIds(const HloComputation& computation) {
  for (const HloInstruction* instruction : computation.instructions()) {
    for (const HloComputation* callee : instruction->called_computations()) {
      if (callee->unique_id() >= computation.unique_id()) return false;
    }
  }
  return true;
}

// The order of XLA. If ids do not put callees first, a post-order does.
std::vector<HloComputation*> InOrderOfIds(const HloModule& module) {
  std::vector<HloComputation*> order = module.computations();
  if (!std::all_of(order.begin(), order.end(), [](const auto* c) { return CalleesHaveSmallerIds(*c); })) {
    return module.MakeComputationPostOrder();
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto* a, const auto* b) { return a->unique_id() < b->unique_id(); });
  return order;
}

void WriteSchedule(const HloModule& module, HloScheduleProto* proto) {
  for (const auto& [computation, sequence] : module.schedule().sequences()) {
    HloScheduleProto::InstructionSequence& ids = (*proto->mutable_sequences())[computation->unique_id()];
    for (const HloInstruction* instruction : sequence) ids.add_instruction_ids(instruction->unique_id());
  }
}

void WriteAliases(const HloModule& module, HloModuleProto* proto) {
  HloInputOutputAliasProto* aliases = proto->mutable_input_output_alias();
  for (const auto& [output_index, alias] : module.input_output_alias_config().aliases()) {
    HloInputOutputAliasProto::AliasEntryProto* entry = aliases->add_entries();
    entry->mutable_output_shape_index()->Add(output_index.begin(), output_index.end());
    entry->set_parameter_number(alias.parameter_number);
    entry->mutable_parameter_shape_index()->Add(alias.parameter_index.begin(), alias.parameter_index.end());
    entry->set_kind(alias.must_alias() ? wire::MUST_ALIAS : wire::MAY_ALIAS);
  }
  HloBufferDonorProto* donors = proto->mutable_buffer_donor();
  for (const HloBufferDonorConfig::BufferDonor& donor : module.buffer_donor_config().buffer_donor()) {
    HloBufferDonorProto::BufferDonorEntryProto* entry = donors->add_entries();
    entry->set_parameter_number(donor.param_number);
    entry->mutable_parameter_shape_index()->Add(donor.param_index.begin(), donor.param_index.end());
  }
}

void WriteStackFrames(const StackFrameIndex& index, StackFrameIndexProto* proto) {
  for (const std::string& name : index.file_names) proto->add_file_names(name);
  for (const std::string& name : index.function_names) proto->add_function_names(name);
  for (const StackFrameIndex::FileLocation& location : index.file_locations) {
    StackFrameIndexProto::FileLocation* entry = proto->add_file_locations();
    entry->set_file_name_id(location.file_name_id);
    entry->set_function_name_id(location.function_name_id);
    entry->set_line(location.line);
    entry->set_end_line(location.end_line);
    entry->set_column(location.column);
    entry->set_end_column(location.end_column);
  }
  for (const StackFrameIndex::StackFrame& frame : index.stack_frames) {
    StackFrameIndexProto::StackFrame* entry = proto->add_stack_frames();
    entry->set_file_location_id(frame.file_location_id);
    entry->set_parent_frame_id(frame.parent_frame_id);
  }
}

void WriteRecoveryTable(const std::vector<OriginalValueRecoveryEntry>& table, OriginalValueRecoveryTableProto* proto) {
  for (const OriginalValueRecoveryEntry& entry : table) {
    OriginalValueRecoveryTableProto::Entry* entry_proto = proto->add_entries();
    proto::proto_internal::WriteOriginalArray(entry.old_array, entry_proto->mutable_old_original_array());
    proto::proto_internal::WriteOriginalArray(entry.new_array, entry_proto->mutable_new_original_array());
    if (entry.recovery_module) *entry_proto->mutable_recovery_module() = entry.recovery_module->ToProto();
  }
}

// The fields that a module has no place for.
HloModuleProto OtherFields(const HloModuleProto& proto) {
  HloModuleProto others;
  if (proto.has_pjrt_id()) others.set_pjrt_id(proto.pjrt_id());
  *others.mutable_cross_program_prefetches() = proto.cross_program_prefetches();
  if (proto.has_spmd_output_sharding()) *others.mutable_spmd_output_sharding() = proto.spmd_output_sharding();
  *others.mutable_spmd_parameters_shardings() = proto.spmd_parameters_shardings();
  *others.mutable_profile_info() = proto.profile_info();
  if (proto.has_device_assignment()) *others.mutable_device_assignment() = proto.device_assignment();
  proto.GetReflection()->MutableUnknownFields(&others)->MergeFrom(proto.GetReflection()->GetUnknownFields(proto));
  return others;
}

}  // namespace

HloModuleProto HloModule::ToProto() const {
  HloModuleProto proto;
  proto.ParsePartialFromString(other_proto_fields());
  proto.set_id(unique_id());
  proto.set_name(name());
  if (has_entry_computation()) {
    proto.set_entry_computation_name(std::string(entry_computation()->name()));
    proto.set_entry_computation_id(entry_computation()->unique_id());
  }
  for (const HloComputation* computation : InOrderOfIds(*this)) *proto.add_computations() = computation->ToProto();
  if (config().has_entry_computation_layout()) {
    *proto.mutable_host_program_shape() = entry_computation_layout().ComputeProgramShape().ToProto();
  }
  if (has_schedule()) WriteSchedule(*this, proto.mutable_schedule());
  WriteAliases(*this, &proto);
  ToWire(frontend_attributes(), proto.mutable_frontend_attributes());
  if (!stack_frame_index().empty()) WriteStackFrames(stack_frame_index(), proto.mutable_stack_frame_index());
  if (!original_value_recovery_table().empty()) {
    WriteRecoveryTable(original_value_recovery_table(), proto.mutable_original_value_recovery_table());
  }
  proto.set_is_dynamic(is_dynamic());
  proto.set_use_auto_spmd_partitioning(config().use_auto_spmd_partitioning());
  proto.set_device_type(config().device_type());
  return proto;
}

absl::StatusOr<HloModuleConfig> HloModule::CreateModuleConfigFromProto(const HloModuleProto& proto,
                                                                       const DebugOptions& debug_options) {
  if (!proto.has_host_program_shape()) return FailedPrecondition("No program shape found in the proto");
  KASHI_ASSIGN_OR_RETURN(const ProgramShape program_shape, ProgramShape::FromProto(proto.host_program_shape()));
  for (const Shape& parameter : program_shape.parameters()) {
    KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(parameter));
  }
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(program_shape.result()));
  HloModuleConfig config(program_shape, /*ignore_layouts=*/false);
  config.set_use_auto_spmd_partitioning(proto.use_auto_spmd_partitioning());
  config.set_device_type(proto.device_type());
  config.set_debug_options(debug_options);
  return config;
}

absl::StatusOr<std::unique_ptr<HloModule>> HloModule::CreateFromProto(const HloModuleProto& proto,
                                                                      const HloModuleConfig& config,
                                                                      bool prohibit_empty_literal) {
  return proto::proto_internal::HloProtoReader(proto, config, prohibit_empty_literal, /*depth=*/0).Read();
}

namespace proto::proto_internal {

absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

// ---- Reading --------------------------------------------------------------------------------------------------------

HloProtoReader::HloProtoReader(const HloModuleProto& proto, const HloModuleConfig& config, bool prohibit_empty_literal,
                               int depth)
    : proto_(proto),
      prohibit_empty_literal_(prohibit_empty_literal),
      depth_(depth),
      module_(std::make_unique<HloModule>(proto.name(), config)),
      computations_(proto.computations_size()) {}

absl::StatusOr<std::unique_ptr<HloModule>> HloProtoReader::Read() {
  if (depth_ > kMaxModuleDepth) return InvalidArgument("recovery modules are nested too deep");
  KASHI_RETURN_IF_ERROR(IndexComputations());
  std::vector<int> order;
  KASHI_RETURN_IF_ERROR(OrderComputations(&order));
  for (const int index : order) KASHI_RETURN_IF_ERROR(ReadComputation(index));
  KASHI_RETURN_IF_ERROR(AddComputations());
  KASHI_RETURN_IF_ERROR(ReadSchedule());
  KASHI_RETURN_IF_ERROR(ReadAliases());
  KASHI_RETURN_IF_ERROR(ReadRecoveryTable());
  KASHI_RETURN_IF_ERROR(ReadModuleFields());
  return std::move(module_);
}

absl::Status HloProtoReader::IndexComputations() {
  absl::flat_hash_set<std::string> names;
  for (int i = 0; i < proto_.computations_size(); ++i) {
    const HloComputationProto& computation = proto_.computations(i);
    if (computation.name().empty()) return InvalidArgument("computation %d has no name", computation.id());
    // Ids of new computations are larger than all that there are.
    if (computation.id() < 0 || computation.id() >= std::numeric_limits<int64_t>::max() / 2) {
      return InvalidArgument("computation %s has id %d", computation.name(), computation.id());
    }
    if (!places_.emplace(computation.id(), i).second) {
      return InvalidArgument("two computations have id %d: %s and another", computation.id(), computation.name());
    }
    const std::string name = SanitizeName(computation.name());
    if (!names.insert(name).second) return InvalidArgument("two computations have the name %s", name);
    module_->computation_name_uniquer().GetUniqueName(name);  // reserves the name
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int>> HloProtoReader::CalleesOf(const HloComputationProto& proto) const {
  std::vector<int> callees;
  for (const HloInstructionProto& instruction : proto.instructions()) {
    for (const int64_t id : instruction.called_computation_ids()) {
      const auto found = places_.find(id);
      if (found == places_.end()) {
        return InvalidArgument("computation %s: instruction %s (%s): called computation %d does not exist",
                               proto.name(), instruction.name(), instruction.opcode(), id);
      }
      callees.push_back(found->second);
    }
  }
  return callees;
}

// Callees first. Usually that is the order of the proto. Depth first, with a stack of its own.
absl::Status HloProtoReader::OrderComputations(std::vector<int>* order) const {
  enum class State : uint8_t { kNew, kOpen, kDone };
  struct Visit {
    int index;
    std::vector<int> callees;
    size_t next = 0;
  };
  std::vector<State> states(proto_.computations_size(), State::kNew);
  std::vector<Visit> open;
  const auto enter = [&](int index) {
    states[index] = State::kOpen;
    KASHI_ASSIGN_OR_RETURN(std::vector<int> callees, CalleesOf(proto_.computations(index)));
    open.push_back({index, std::move(callees)});
    return absl::OkStatus();
  };
  for (int i = 0; i < proto_.computations_size(); ++i) {
    if (states[i] != State::kNew) continue;
    KASHI_RETURN_IF_ERROR(enter(i));
    while (!open.empty()) {
      Visit& visit = open.back();
      if (visit.next == visit.callees.size()) {
        states[visit.index] = State::kDone;
        order->push_back(visit.index);
        open.pop_back();
        continue;
      }
      const int callee = visit.callees[visit.next++];
      if (states[callee] == State::kOpen) {
        return InvalidArgument("computation %s calls itself, directly or through others",
                               proto_.computations(callee).name());
      }
      if (states[callee] == State::kNew) KASHI_RETURN_IF_ERROR(enter(callee));
    }
  }
  return absl::OkStatus();
}

// Finds the entry by id; by name if no computation has the id.
absl::StatusOr<int> HloProtoReader::FindEntry() const {
  const auto found = places_.find(proto_.entry_computation_id());
  if (found != places_.end()) return found->second;
  for (int i = 0; i < proto_.computations_size(); ++i) {
    if (proto_.computations(i).name() == proto_.entry_computation_name()) return i;
  }
  return InvalidArgument("there is no entry computation: id %d, name \"%s\"", proto_.entry_computation_id(),
                         proto_.entry_computation_name());
}

// Adds computations in the order of their ids: that of the text from which the proto was made, and of printing.
absl::Status HloProtoReader::AddComputations() {
  KASHI_ASSIGN_OR_RETURN(const int entry, FindEntry());
  std::vector<int> order(computations_.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(),
            [this](int a, int b) { return proto_.computations(a).id() < proto_.computations(b).id(); });
  for (const int index : order) module_->AddComputationAsIs(std::move(computations_[index]), index == entry);
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadSchedule() {
  if (!proto_.has_schedule()) return absl::OkStatus();
  absl::flat_hash_map<int64_t, const HloComputation*> computations;
  for (const HloComputation* computation : module_->computations()) {
    computations.emplace(computation->unique_id(), computation);
  }
  HloSchedule schedule;
  for (const auto& [id, ids] : proto_.schedule().sequences()) {
    const auto computation = computations.find(id);
    if (computation == computations.end()) return InvalidArgument("schedule: computation %d does not exist", id);
    std::vector<HloInstruction*> sequence;
    sequence.reserve(ids.instruction_ids_size());
    for (const int64_t instruction_id : ids.instruction_ids()) {
      const auto instruction = FindInstruction(instruction_id, computation->second, "instruction");
      if (!instruction.ok()) {
        return Annotate(instruction.status(), absl::StrCat("schedule of computation ", computation->second->name()));
      }
      sequence.push_back(*instruction);
    }
    schedule.set_sequence(computation->second, std::move(sequence));
  }
  return module_->set_schedule(std::move(schedule));
}

absl::Status HloProtoReader::ReadAliases() {
  HloInputOutputAliasConfig config(module_->result_shape());
  for (const auto& entry : proto_.input_output_alias().entries()) {
    if (!wire::Kind_IsValid(entry.kind())) return BadEnumNumber("Kind", entry.kind());
    const auto& output = entry.output_shape_index();
    const auto& parameter = entry.parameter_shape_index();
    KASHI_RETURN_IF_ERROR(config.SetUpAlias(ShapeIndex(output.begin(), output.end()), entry.parameter_number(),
                                            ShapeIndex(parameter.begin(), parameter.end()),
                                            entry.kind() == wire::MUST_ALIAS ? HloInputOutputAliasConfig::kMustAlias
                                                                             : HloInputOutputAliasConfig::kMayAlias));
  }
  module_->set_input_output_alias_config(std::move(config));
  HloBufferDonorConfig donors;
  for (const auto& entry : proto_.buffer_donor().entries()) {
    const auto& parameter = entry.parameter_shape_index();
    donors.AddBufferDonor(entry.parameter_number(), ShapeIndex(parameter.begin(), parameter.end()));
  }
  module_->set_buffer_donor_config(std::move(donors));
  return absl::OkStatus();
}

void HloProtoReader::ReadStackFrames() {
  const StackFrameIndexProto& proto = proto_.stack_frame_index();
  StackFrameIndex* index = module_->mutable_stack_frame_index();
  index->file_names.assign(proto.file_names().begin(), proto.file_names().end());
  index->function_names.assign(proto.function_names().begin(), proto.function_names().end());
  for (const auto& location : proto.file_locations()) {
    index->file_locations.push_back({location.file_name_id(), location.function_name_id(), location.line(),
                                     location.end_line(), location.column(), location.end_column()});
  }
  for (const auto& frame : proto.stack_frames()) {
    index->stack_frames.push_back({frame.file_location_id(), frame.parent_frame_id()});
  }
}

absl::Status HloProtoReader::ReadRecoveryTable() {
  for (const auto& entry : proto_.original_value_recovery_table().entries()) {
    OriginalValueRecoveryEntry read;
    read.old_array = ReadOriginalArray(entry.old_original_array());
    read.new_array = ReadOriginalArray(entry.new_original_array());
    if (entry.has_recovery_module()) {
      KASHI_ASSIGN_OR_RETURN(const HloModuleConfig config,
                             HloModule::CreateModuleConfigFromProto(entry.recovery_module()));
      HloProtoReader reader(entry.recovery_module(), config, prohibit_empty_literal_, depth_ + 1);
      reader.unlisted_bytes_ = unlisted_bytes_;
      KASHI_ASSIGN_OR_RETURN(read.recovery_module, reader.Read());
      unlisted_bytes_ = reader.unlisted_bytes_;
    }
    module_->mutable_original_value_recovery_table()->push_back(std::move(read));
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadModuleFields() {
  if (proto_.id() >= 0 && proto_.id() <= std::numeric_limits<int>::max()) {
    module_->set_unique_id(static_cast<int>(proto_.id()));
  }
  FrontendAttributes attributes;
  KASHI_RETURN_IF_ERROR(FromWire(proto_.frontend_attributes(), &attributes));
  module_->set_frontend_attributes(std::move(attributes));
  ReadStackFrames();
  module_->set_is_dynamic(proto_.is_dynamic());
  module_->set_other_proto_fields(OtherFields(proto_).SerializeAsString());
  return absl::OkStatus();
}

}  // namespace proto::proto_internal
}  // namespace kashi
