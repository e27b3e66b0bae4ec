// HloInstruction::ToProto, and the instructions of HloProtoReader.

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/proto/hlo_proto_reader.h"
#include "kashi/proto/instruction_fields_proto.h"
#include "kashi/proto/original_value_proto.h"
#include "kashi/proto/records_proto.h"

namespace kashi {

// ---- Writing --------------------------------------------------------------------------------------------------------

// XLA writes metadata, frontend attributes and statistics even where there are none.
HloInstructionProto HloInstruction::ToProto() const {
  HloInstructionProto proto;
  proto.set_id(unique_id());
  proto.set_name(std::string(name()));
  proto.set_opcode(std::string(HloOpcodeString(opcode())));
  shape().SetProto(*proto.mutable_shape());
  for (const HloInstruction* operand : operands()) proto.add_operand_ids(operand->unique_id());
  for (const HloInstruction* predecessor : control_predecessors()) {
    proto.add_control_predecessor_ids(predecessor->unique_id());
  }
  proto::proto_internal::WriteFields(*this, &proto);

  ToWire(metadata(), proto.mutable_metadata());
  if (has_backend_config()) proto.set_backend_config(raw_backend_config_string());
  ToWire(frontend_attributes(), proto.mutable_frontend_attributes());
  ToWire(statistics_viz(), proto.mutable_statistics_viz());
  if (has_sharding()) ToWire(sharding().ToProto(), proto.mutable_sharding());
  if (original_value() != nullptr)
    proto::proto_internal::WriteOriginalValue(*original_value(), proto.mutable_original_value());
  if (const auto& replicated = parameter_replicated_at_leaf_buffers()) {
    for (const bool value : *replicated) {
      proto.mutable_parameter_replication()->add_replicated_at_leaf_buffers(value);
    }
  }
  return proto;
}

namespace proto::proto_internal {

// ---- Reading --------------------------------------------------------------------------------------------------------

absl::Status HloProtoReader::ReadInstruction(const HloInstructionProto& proto, HloComputation* computation) {
  const absl::Status status = MakeInstruction(proto, computation);
  if (status.ok()) return status;
  return Annotate(status, absl::StrCat("instruction ", proto.name(), " (", proto.opcode(), ")"));
}

absl::Status HloProtoReader::MakeInstruction(const HloInstructionProto& proto, HloComputation* computation) {
  const std::optional<HloOpcode> opcode = FindHloOpcode(proto.opcode());
  if (!opcode.has_value()) return InvalidArgument("unknown opcode");
  if (proto.id() < 0) return InvalidArgument("negative id %d", proto.id());
  if (instructions_.contains(proto.id())) return InvalidArgument("another instruction also has id %d", proto.id());
  KASHI_ASSIGN_OR_RETURN(const absl::string_view name, ReadName(proto));
  KASHI_ASSIGN_OR_RETURN(SharedShape shape, ReadShape(proto.shape()));

  absl::InlinedVector<HloInstruction*, 8> operands;
  for (const int64_t id : proto.operand_ids()) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * operand, FindInstruction(id, computation, "operand"));
    operands.push_back(operand);
  }
  const int arity = GetHloOpcodeInfo(*opcode).arity;
  if (arity >= 0 && static_cast<int>(operands.size()) != arity) {
    return InvalidArgument("%d operands instead of %d", operands.size(), arity);
  }
  ComputationVector called;
  for (const int64_t id : proto.called_computation_ids()) {
    called.push_back(computations_[places_.at(id)].get());  // OrderComputations has seen to it
  }
  KASHI_RETURN_IF_ERROR(CheckAsync(*opcode, operands, called));

  HloFieldList fields;
  KASHI_RETURN_IF_ERROR(ReadFields(
      {proto, *opcode, shape->shape(), operands, called, prohibit_empty_literal_, &unlisted_bytes_}, &fields));
  HloInstruction* instruction =
      computation->AddInArena(module_->arena(), *opcode, std::move(shape), operands, std::move(fields), name);
  instruction->SetUniqueId(proto.id());
  instructions_.emplace(proto.id(), instruction);
  for (const int64_t id : proto.control_predecessor_ids()) {
    KASHI_ASSIGN_OR_RETURN(HloInstruction * predecessor, FindInstruction(id, computation, "control predecessor"));
    if (predecessor == instruction) return InvalidArgument("the instruction is its own control predecessor");
    KASHI_RETURN_IF_ERROR(predecessor->AddControlDependencyTo(instruction));
  }
  return ReadExtras(proto, instruction);
}

absl::StatusOr<HloInstruction*> HloProtoReader::FindInstruction(int64_t id, const HloComputation* computation,
                                                                absl::string_view role) const {
  const auto found = instructions_.find(id);
  if (found == instructions_.end()) return InvalidArgument("%s %d does not exist, or comes later", role, id);
  if (found->second->parent() != computation) return InvalidArgument("%s %d is in another computation", role, id);
  return found->second;
}

// Names are sanitised, but not made unique: two equal ones are an error.
absl::StatusOr<absl::string_view> HloProtoReader::ReadName(const HloInstructionProto& proto) {
  if (proto.name().empty()) return InvalidArgument("no name");
  const absl::string_view name = module_->arena()->Copy(SanitizeName(proto.name()));
  if (!instruction_names_.insert(name).second) return InvalidArgument("another instruction also has the name %s", name);
  module_->instruction_name_uniquer().GetUniqueName(name);  // reserves the name
  return name;
}

absl::StatusOr<SharedShape> HloProtoReader::ReadShape(const ShapeProto& proto) {
  KASHI_ASSIGN_OR_RETURN(Shape shape, Shape::FromProto(proto));
  const auto found = shapes_.find(shape);
  if (found != shapes_.end()) return found->second;
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(shape));
  SharedShape shared(ShapeWithText{shape});
  shapes_.emplace(std::move(shape), shared);
  return shared;
}

// Checks the properties that the short form of asynchronous operations relies on (docs/spec/hlo.md 1.6).
absl::Status HloProtoReader::CheckAsync(HloOpcode opcode, absl::Span<HloInstruction* const> operands,
                                        absl::Span<HloComputation* const> called) const {
  if (opcode == HloOpcode::kAsyncStart) {
    if (called.size() == 1 && called[0]->AsyncStart() != nullptr) {
      return InvalidArgument("computation %s is called by more than one async op", called[0]->name());
    }
  } else if (opcode == HloOpcode::kAsyncUpdate || opcode == HloOpcode::kAsyncDone) {
    const HloOpcode step = operands[0]->opcode();
    if (step != HloOpcode::kAsyncStart && step != HloOpcode::kAsyncUpdate) {
      return InvalidArgument("operand %s is neither async-start nor async-update", operands[0]->name());
    }
  }
  return absl::OkStatus();
}

// ---- Fields that any instruction may have ---------------------------------------------------------------------------

absl::Status HloProtoReader::ReadExtras(const HloInstructionProto& proto, HloInstruction* instruction) {
  KASHI_RETURN_IF_ERROR(ReadMetadata(proto.metadata(), instruction));
  KASHI_RETURN_IF_ERROR(ReadBackendConfig(proto, instruction));
  if (proto.has_sharding()) {
    OpSharding record;
    KASHI_RETURN_IF_ERROR(FromWire(proto.sharding(), &record));
    KASHI_ASSIGN_OR_RETURN(HloSharding sharding, HloSharding::FromProto(record));
    instruction->set_sharding(std::move(sharding));
  }
  if (!proto.frontend_attributes().map().empty()) {
    FrontendAttributes attributes;
    KASHI_RETURN_IF_ERROR(FromWire(proto.frontend_attributes(), &attributes));
    instruction->set_frontend_attributes(std::move(attributes));
  }
  StatisticsViz statistics;
  KASHI_RETURN_IF_ERROR(FromWire(proto.statistics_viz(), &statistics));
  if (statistics != StatisticsViz()) instruction->set_statistics_viz(std::move(statistics));
  if (proto.has_original_value()) {
    KASHI_ASSIGN_OR_RETURN(OriginalValue value, ReadOriginalValue(proto.original_value()));
    instruction->set_original_value(std::make_shared<OriginalValue>(std::move(value)));
  }
  if (proto.has_parameter_replication()) {
    if (instruction->opcode() != HloOpcode::kParameter) {
      return InvalidArgument("only a parameter has parameter_replication");
    }
    const auto& replicated = proto.parameter_replication().replicated_at_leaf_buffers();
    const int64_t leaves = ShapeUtil::GetLeafCount(instruction->shape());
    if (replicated.size() != leaves) {
      return InvalidArgument("parameter has %d leaf buffers, but parameter_replication has %d elements.", leaves,
                             replicated.size());
    }
    instruction->set_parameter_replicated_at_leaf_buffers(std::vector<bool>(replicated.begin(), replicated.end()));
  }
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadMetadata(const wire::OpMetadata& message, HloInstruction* instruction) {
  OpMetadata metadata;
  KASHI_RETURN_IF_ERROR(FromWire(message, &metadata));
  if (metadata == OpMetadata::default_instance()) return absl::OkStatus();
  if (metadata.has_metadata_payload()) {
    KASHI_ASSIGN_OR_RETURN(std::string bytes, PayloadBytes(message.metadata_payload()));
    Payload payload;
    payload.set_value(std::move(bytes));
    *metadata.mutable_metadata_payload() = std::move(payload);
  }
  const auto found = metadata_.find(metadata);
  if (found != metadata_.end()) {
    instruction->set_shared_metadata(found->second);
    return absl::OkStatus();
  }
  base::SharedValue<OpMetadata> shared(metadata);
  metadata_.emplace(std::move(metadata), shared);
  instruction->set_shared_metadata(std::move(shared));
  return absl::OkStatus();
}

absl::Status HloProtoReader::ReadBackendConfig(const HloInstructionProto& proto, HloInstruction* instruction) {
  std::string config = proto.backend_config();
  if (proto.has_backend_config_payload()) {
    KASHI_ASSIGN_OR_RETURN(config, PayloadBytes(proto.backend_config_payload()));
  }
  if (config.empty()) return absl::OkStatus();
  base::SharedValue<std::string>& shared = backend_configs_[config];
  if (!shared) shared = base::SharedValue<std::string>(BackendConfigToKeep(std::move(config)));
  instruction->set_shared_backend_config(shared);
  return absl::OkStatus();
}

absl::StatusOr<std::string> HloProtoReader::PayloadBytes(const wire::Payload& payload) const {
  if (payload.payload_source_case() != wire::Payload::kId) return payload.value();
  if (payload.id() < 0 || payload.id() >= proto_.payloads_size()) {
    return InvalidArgument("payload %d is out of range [0, %d)", payload.id(), proto_.payloads_size());
  }
  return proto_.payloads(static_cast<int>(payload.id()));
}

}  // namespace proto::proto_internal
}  // namespace kashi
