#include "kashi/pjrt/alias_donors.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::pjrt {

absl::Status AliasDonors(HloModule* module) {
  const HloComputation& entry = *module->entry_computation();
  HloInputOutputAliasConfig aliases(entry.root_instruction()->shape());
  for (const auto& [output, alias] : module->input_output_alias_config().aliases()) {
    KASHI_RETURN_IF_ERROR(aliases.SetUpAlias(output, alias.parameter_number, alias.parameter_index, alias.kind));
  }
  std::vector<IndexedShape> results;
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(entry.root_instruction()->shape())) {
    if (leaf.shape.IsArray() && !aliases.OutputHasAlias(leaf.index)) results.push_back(leaf);
  }
  HloBufferDonorConfig left;
  for (const auto& donor : module->buffer_donor_config().buffer_donor()) {
    const Shape& parameter = entry.parameter_instruction(donor.param_number)->shape();
    const Shape& array = ShapeUtil::GetSubshape(parameter, donor.param_index);
    const auto result = absl::c_find_if(results, [&](const IndexedShape& leaf) {
      return array.IsArray() && ShapeUtil::ByteSizeOf(leaf.shape) == ShapeUtil::ByteSizeOf(array);
    });
    if (result == results.end()) {
      left.AddBufferDonor(donor.param_number, donor.param_index);
      continue;
    }
    KASHI_RETURN_IF_ERROR(aliases.SetUpAlias(result->index, donor.param_number, donor.param_index));
    results.erase(result);
  }
  module->set_input_output_alias_config(std::move(aliases));
  module->set_buffer_donor_config(std::move(left));
  return absl::OkStatus();
}

}  // namespace kashi::pjrt
