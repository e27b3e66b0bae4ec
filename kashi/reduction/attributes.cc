#include "kashi/reduction/attributes.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal.h"
#include "kashi/reduction/module_size.h"

namespace kashi::reduction {
namespace {

// ---- Of instructions ------------------------------------------------------------------------------------------------

bool IsDefaultLayout(const Shape& array) {
  return !array.has_layout() || array.layout() == LayoutUtil::GetDefaultLayoutForShape(array);
}

int64_t CountLayouts(const Shape& shape) {
  int64_t count = 0;
  ShapeUtil::ForEachSubshape(
      shape, [&](const Shape& part, const ShapeIndex&) { count += part.IsArray() && !IsDefaultLayout(part) ? 1 : 0; });
  return count;
}
int64_t CountLayoutsOf(const HloInstruction& x) { return CountLayouts(x.shape()); }

// LayoutUtil::SetToDefaultLayout keeps tiles and memory spaces.
Shape WithDefaultLayout(Shape shape) {
  LayoutUtil::ClearLayout(&shape);
  LayoutUtil::SetToDefaultLayout(&shape);
  return shape;
}
void EraseLayouts(HloInstruction* x) { x->set_shared_shape(SharedShape(ShapeWithText(WithDefaultLayout(x->shape())))); }

int64_t CountMetadata(const HloInstruction& x) { return x.has_metadata() && x.metadata() != OpMetadata() ? 1 : 0; }
void EraseMetadata(HloInstruction* x) { x->set_shared_metadata({}); }

int64_t CountFrontendAttributes(const HloInstruction& x) { return x.frontend_attributes().map_size(); }
void EraseFrontendAttributes(HloInstruction* x) { x->set_frontend_attributes({}); }

int64_t CountBackendConfig(const HloInstruction& x) { return x.has_backend_config() ? 1 : 0; }
void EraseBackendConfig(HloInstruction* x) { x->clear_backend_config(); }

int64_t CountSharding(const HloInstruction& x) { return x.has_sharding() ? 1 : 0; }
void EraseSharding(HloInstruction* x) { x->clear_sharding(); }

int64_t CountControlPredecessors(const HloInstruction& x) {
  return static_cast<int64_t>(x.control_predecessors().size());
}
void EraseControlPredecessors(HloInstruction* x) {
  const std::vector<HloInstruction*> predecessors = x->control_predecessors();
  for (HloInstruction* predecessor : predecessors) predecessor->RemoveControlDependencyTo(x).IgnoreError();
}

int64_t CountStatistics(const HloInstruction& x) { return x.statistics_viz() != StatisticsViz() ? 1 : 0; }
void EraseStatistics(HloInstruction* x) { x->set_statistics_viz({}); }

int64_t CountOriginalValue(const HloInstruction& x) { return x.original_value() != nullptr ? 1 : 0; }
void EraseOriginalValue(HloInstruction* x) { x->set_original_value(nullptr); }

int64_t CountReplication(const HloInstruction& x) {
  return x.parameter_replicated_at_leaf_buffers().has_value() ? 1 : 0;
}
void EraseReplication(HloInstruction* x) { x->mutable_extras()->parameter_replicated_at_leaf_buffers.reset(); }

int64_t CountUnknownAttributes(const HloInstruction& x) {
  return static_cast<int64_t>(x.extras().unknown_attributes.size());
}
void EraseUnknownAttributes(HloInstruction* x) { x->mutable_extras()->unknown_attributes.clear(); }

// The largest texts come first: without them the other candidates are written and read sooner.
constexpr AttributeKind kKinds[] = {
    {"metadata", &CountMetadata, &EraseMetadata},
    {"original values", &CountOriginalValue, &EraseOriginalValue},
    {"statistics", &CountStatistics, &EraseStatistics},
    {"unknown attributes", &CountUnknownAttributes, &EraseUnknownAttributes},
    {"frontend attributes", &CountFrontendAttributes, &EraseFrontendAttributes},
    {"backend configs", &CountBackendConfig, &EraseBackendConfig},
    {"control dependencies", &CountControlPredecessors, &EraseControlPredecessors},
    {"replicated parameters", &CountReplication, &EraseReplication},
    {"shardings", &CountSharding, &EraseSharding},
    {"layouts", &CountLayoutsOf, &EraseLayouts},
};

// The field of each attribute, by HloAttribute.
constexpr HloField kFieldOfAttribute[] = {
#define KASHI_ATTRIBUTE(identifier, name, codec, field, argument) HloField::field,
#include "kashi/hlo/ir/attributes.def"
};

// Whether a required attribute of the operation is a part of the field, or the operation works with its absence as
// with another value.
bool IsNeeded(const HloOpcodeInfo& info, HloField field) {
  if (field == HloField::called_computations || field == HloField::dimensions || field == HloField::window) return true;
  return absl::c_any_of(info.attributes, [&](const HloOpcodeAttribute& entry) {
    return entry.need != HloOpcodeAttribute::kOptional && kFieldOfAttribute[static_cast<int>(entry.attribute)] == field;
  });
}

int64_t CountNumbers(const HloInstruction& x) {
  if (!x.IsConstant() || !x.fields().Has(HloField::literal) || !x.shape().IsArray()) return 0;
  const SharedLiteral& literal = x.shared_literal();
  if (literal.is_elided() || ShapeUtil::ElementsIn(x.shape()) > kMostNumbersInText) return 2;
  return literal->IsAll(0) ? 0 : literal->IsAll(1) ? 1 : 2;
}

// ---- Of modules -----------------------------------------------------------------------------------------------------

int64_t CountSchedule(const HloModule& module) { return module.has_schedule() ? 1 : 0; }
void EraseSchedule(HloModule* module) { module->clear_schedule(); }

int64_t CountAliases(const HloModule& module) {
  return static_cast<int64_t>(module.input_output_alias_config().aliases().size());
}
void EraseAliases(HloModule* module) {
  module->set_input_output_alias_config(HloInputOutputAliasConfig(module->result_shape()));
}

int64_t CountDonors(const HloModule& module) {
  return static_cast<int64_t>(module.buffer_donor_config().buffer_donor().size());
}
void EraseDonors(HloModule* module) { module->set_buffer_donor_config({}); }

int64_t CountModuleFrontendAttributes(const HloModule& module) { return module.frontend_attributes().map_size(); }
void EraseModuleFrontendAttributes(HloModule* module) { module->set_frontend_attributes({}); }

// Frames stay as long as metadata may name them.
int64_t CountStackFrames(const HloModule& module) { return module.stack_frame_index().empty() ? 0 : 1; }
void EraseStackFrames(HloModule* module) {
  for (const HloComputation* computation : module->computations()) {
    const auto has_frame = [](const HloInstruction* x) { return x->metadata().stack_frame_id() != 0; };
    if (absl::c_any_of(computation->instructions(), has_frame)) return;
  }
  *module->mutable_stack_frame_index() = {};
}

int64_t CountRecoveries(const HloModule& module) {
  return static_cast<int64_t>(module.original_value_recovery_table().size());
}
void EraseRecoveries(HloModule* module) { module->mutable_original_value_recovery_table()->clear(); }

bool IsNothing(const HloModuleConfig::BoolList& list) { return list.size() == 1 && !list[0]; }
int64_t CountPropagation(const HloModule& module) {
  const HloModuleConfig& config = module.config();
  return (IsNothing(config.allow_spmd_sharding_propagation_to_parameters()) ? 0 : 1) +
         (IsNothing(config.allow_spmd_sharding_propagation_to_output()) ? 0 : 1);
}
void ErasePropagation(HloModule* module) {
  module->mutable_config().set_allow_spmd_sharding_propagation_to_parameters({false});
  module->mutable_config().set_allow_spmd_sharding_propagation_to_output({false});
}

int64_t CountEntryLayouts(const HloModule& module) {
  if (!module.config().has_entry_computation_layout()) return 0;
  const ComputationLayout& layout = module.entry_computation_layout();
  int64_t count = CountLayouts(layout.result_shape());
  for (const ShapeLayout& parameter : layout.parameter_layouts()) count += CountLayouts(parameter.shape());
  return count;
}
void EraseEntryLayouts(HloModule* module) {
  const ComputationLayout& before = module->entry_computation_layout();
  ComputationLayout layout{ShapeLayout(WithDefaultLayout(before.result_shape()))};
  for (const ShapeLayout& parameter : before.parameter_layouts()) {
    layout.add_parameter_layout(ShapeLayout(WithDefaultLayout(parameter.shape())));
  }
  module->mutable_config().set_entry_computation_layout(std::move(layout));
}

int64_t CountReplicas(const HloModule& module) { return module.config().replica_count() > 1 ? 1 : 0; }
void EraseReplicas(HloModule* module) { module->mutable_config().set_replica_count(1); }

int64_t CountPartitions(const HloModule& module) { return module.config().num_partitions() > 1 ? 1 : 0; }
void ErasePartitions(HloModule* module) { module->mutable_config().set_num_partitions(1); }

constexpr ModuleAttributeKind kModuleKinds[] = {
    {"stack frames", &CountStackFrames, &EraseStackFrames},
    {"recovery table", &CountRecoveries, &EraseRecoveries},
    {"schedule", &CountSchedule, &EraseSchedule},
    {"layouts of the entry", &CountEntryLayouts, &EraseEntryLayouts},
    {"aliases", &CountAliases, &EraseAliases},
    {"buffer donors", &CountDonors, &EraseDonors},
    {"frontend attributes", &CountModuleFrontendAttributes, &EraseModuleFrontendAttributes},
    {"propagation of shardings", &CountPropagation, &ErasePropagation},
    {"replicas", &CountReplicas, &EraseReplicas},
    {"partitions", &CountPartitions, &ErasePartitions},
};

}  // namespace

absl::Span<const AttributeKind> AttributeKinds() { return kKinds; }

std::vector<HloField> OptionalFieldsOf(const HloInstruction& instruction) {
  const HloOpcodeInfo& info = GetHloOpcodeInfo(instruction.opcode());
  std::vector<HloField> fields;
  for (const HloOpcodeAttribute& entry : info.attributes) {
    const HloField field = kFieldOfAttribute[static_cast<int>(entry.attribute)];
    if (entry.need != HloOpcodeAttribute::kOptional || !instruction.fields().Has(field)) continue;
    if (!IsNeeded(info, field) && !absl::c_linear_search(fields, field)) fields.push_back(field);
  }
  return fields;
}

int64_t CountWindowParts(const HloInstruction& instruction) {
  int64_t count = 0;
  for (const WindowDimension& dimension : instruction.window().dimensions()) {
    count += (dimension.stride() > 1 ? 1 : 0) + (dimension.padding_low() != 0 ? 1 : 0) +
             (dimension.padding_high() != 0 ? 1 : 0) + (dimension.window_dilation() > 1 ? 1 : 0) +
             (dimension.base_dilation() > 1 ? 1 : 0) + (dimension.window_reversal() ? 1 : 0);
  }
  return count;
}

int64_t CountAttributes(const HloInstruction& instruction) {
  int64_t count = CountWindowParts(instruction) + CountNumbers(instruction);
  for (const AttributeKind& kind : kKinds) count += kind.count(instruction);
  return count + static_cast<int64_t>(OptionalFieldsOf(instruction).size());
}

absl::Span<const ModuleAttributeKind> ModuleAttributeKinds() { return kModuleKinds; }

int64_t CountModuleAttributes(const HloModule& module) {
  int64_t count = 0;
  for (const ModuleAttributeKind& kind : kModuleKinds) count += kind.count(module);
  return count;
}

}  // namespace kashi::reduction
