// Checks the module's own data: the layouts of its entry, its schedule, the buffers that parameters and result
// share.
#include <cstdint>
#include <utility>
#include <vector>

#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/original_value.h"
#include "kashi/hlo/verifier/hlo_verifier_internal.h"

namespace kashi::hlo::hlo_verifier {
namespace {

// ---- The entry computation layout -----------------------------------------------------------------------------------

// A layout that is left to the compiler agrees with every layout.
bool AgreesWithLayout(const Shape& shape, const ShapeLayout& layout, const Verification& v) {
  if (!v.opts().layout_sensitive || !layout.LayoutIsSet()) return ShapeUtil::Compatible(shape, layout.shape());
  return Shape::Equal().IgnoreTilesInLayout().IgnoreMemorySpaceInLayout().IgnoreDynamicDimension()(shape,
                                                                                                   layout.shape());
}

absl::Status CheckEntryLayout(const Verification& v) {
  const HloModule& module = v.module();
  if (!module.config().has_entry_computation_layout()) return absl::OkStatus();
  const ComputationLayout& layout = module.entry_computation_layout();
  const HloComputation& entry = *module.entry_computation();
  KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(layout.result_shape()));
  const Shape& result = entry.root_instruction()->shape();
  if (!AgreesWithLayout(result, layout.result_layout(), v)) {
    return Internal(
        "Shape of the root instruction of entry computation (%s) should be compatible to one specified in module's "
        "entry "
        "computation layout (%s)",
        v.ShapeText(result), v.ShapeText(layout.result_shape()));
  }
  if (entry.num_parameters() != layout.parameter_count()) {
    return Internal(
        "Number of parameters in entry computation layout (%d) must be same as number of parameters of entry "
        "computation (%d)",
        layout.parameter_count(), entry.num_parameters());
  }
  for (int64_t i = 0; i < entry.num_parameters(); ++i) {
    const Shape& parameter = entry.parameter_instruction(i)->shape();
    KASHI_RETURN_IF_ERROR(ShapeUtil::ValidateShapeWithOptionalLayout(layout.parameter_shape(i)));
    if (AgreesWithLayout(parameter, layout.parameter_layout(i), v)) continue;
    return Internal(
        "Shape of the entry computation parameter %d is %s should be compatible to the one specified in module's entry "
        "computation layout %s",
        i, v.ShapeText(parameter), v.ShapeText(layout.parameter_shape(i)));
  }
  return absl::OkStatus();
}

// A buffer that a parameter and the result share must be in one memory.
absl::Status CheckAliasedMemory(const HloModule& module) {
  if (!module.config().has_entry_computation_layout()) return absl::OkStatus();
  const ComputationLayout& layout = module.entry_computation_layout();
  for (const auto& [output_index, alias] : module.input_output_alias_config().aliases()) {
    // The compiler may drop the other kind of alias.
    if (!alias.must_alias() || alias.parameter_number >= layout.parameter_count()) continue;
    const Shape& parameters = layout.parameter_shape(static_cast<int>(alias.parameter_number));
    if (!ShapeUtil::IndexIsValid(layout.result_shape(), output_index) ||
        !ShapeUtil::IndexIsValid(parameters, alias.parameter_index)) {
      continue;  // said by the alias configuration's own check
    }
    const Shape& result = ShapeUtil::GetSubshape(layout.result_shape(), output_index);
    const Shape& parameter = ShapeUtil::GetSubshape(parameters, alias.parameter_index);
    const bool have_layouts = result.has_layout() && parameter.has_layout();
    const bool is_one_memory = !have_layouts || result.layout().memory_space() == parameter.layout().memory_space();
    if (ShapeUtil::Compatible(result, parameter) && is_one_memory) continue;
    return Internal(
        "Shape and memory space of the result at index %s (%s) must be the same as the shape and memory space of "
        "aliased parameter %d at index %s (%s)",
        output_index.ToString(), ShapeUtil::HumanStringWithLayout(result), alias.parameter_number,
        alias.parameter_index.ToString(), ShapeUtil::HumanStringWithLayout(parameter));
  }
  return absl::OkStatus();
}

// ---- Layout-constrained all-reduces ---------------------------------------------------------------------------------

// Either all all-reduces of a module are layout-constrained, or none.
void VerifyConstrainedAllReduces(Verification* v) {
  const HloInstruction* first = nullptr;
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      if (x->opcode() != HloOpcode::kAllReduce && x->opcode() != HloOpcode::kAllReduceStart) continue;
      if (first == nullptr) first = x;
      if (first->constrain_layout() == x->constrain_layout()) continue;
      v->Report(x, "constrained layouts",
                FailedPrecondition(
                    "HloModule has a mix of layout constrained and unconstrained AllReduce instructions: %s and %s",
                    first->name(), x->name()));
    }
  }
}

// ---- Original values ------------------------------------------------------------------------------------------------

bool HasTreeOf(const OriginalValue::Node& tree, const Shape& shape) {
  std::vector<std::pair<const OriginalValue::Node*, const Shape*>> unseen = {{&tree, &shape}};
  while (!unseen.empty()) {
    const auto [node, part] = unseen.back();
    unseen.pop_back();
    if (node->is_tuple != part->IsTuple()) return false;
    if (!node->is_tuple) continue;
    if (static_cast<int>(node->elements.size()) != part->tuple_shapes_size()) return false;
    for (int i = 0; i < part->tuple_shapes_size(); ++i) unseen.push_back({&node->elements[i], &part->tuple_shapes(i)});
  }
  return true;
}

void VerifyOriginalValues(Verification* v) {
  for (const HloComputation* computation : v->module().computations()) {
    for (const HloInstruction* x : computation->instructions()) {
      const std::shared_ptr<OriginalValue> value = x->original_value();
      if (value == nullptr || value->is_synthetic_call() || HasTreeOf(value->tree(), x->shape())) continue;
      v->Report(x, "original value",
                Internal("Mismatched tuple structure in shape and original value: %s and %s",
                         ShapeUtil::HumanString(x->shape()), value->ToString()));
    }
  }
}

}  // namespace

void VerifyModuleWide(Verification* v) {
  const HloModule& module = v->module();
  if (v->MayExamine(*module.entry_computation())) {
    v->Report(module.entry_computation(), "entry layout", CheckEntryLayout(*v));
  }
  if (module.has_schedule()) v->ReportModule("schedule", module.schedule().Verify(module));
  v->ReportModule("input-output alias", module.input_output_alias_config().Verify(module));
  v->ReportModule("aliased memory", CheckAliasedMemory(module));
  v->ReportModule("buffer donor", module.buffer_donor_config().Verify(module));
  VerifyConstrainedAllReduces(v);
  VerifyOriginalValues(v);
}

}  // namespace kashi::hlo::hlo_verifier
