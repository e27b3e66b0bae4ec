// The module's data about the buffers of its parameters and its result: HloInputOutputAliasConfig,
// HloBufferDonorConfig.
#include <algorithm>
#include <set>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_join.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {
namespace {

// The shape of a part of an entry parameter; an error if there is no such part.
absl::StatusOr<const Shape*> ParameterSubshape(const HloModule& module, int64_t number, const ShapeIndex& index) {
  const HloComputation& entry = *module.entry_computation();
  if (number < 0 || number >= entry.num_parameters()) {
    return Internal("there is no parameter %d: computation %s has %d", number, entry.name(), entry.num_parameters());
  }
  const Shape& shape = entry.parameter_instruction(number)->shape();
  if (!ShapeUtil::IndexIsValid(shape, index)) {
    return Internal("parameter %d of shape %s has no index %s", number, ShapeUtil::HumanString(shape),
                    index.ToString());
  }
  return &ShapeUtil::GetSubshape(shape, index);
}

std::string ParameterText(int64_t number, const ShapeIndex& index) {
  return absl::StrCat("(", number, ", ", index.ToString());
}

}  // namespace

absl::Status HloInputOutputAliasConfig::SetUpAlias(const ShapeIndex& output_index, int64_t parameter_number,
                                                   const ShapeIndex& parameter_index, AliasKind kind) {
  if (!ShapeUtil::IndexIsValid(output_shape_, output_index)) {
    return InvalidArgument("Trying to set up alias at %s which is an invalid index for shape %s",
                           output_index.ToString(), ShapeUtil::HumanString(output_shape_));
  }
  if (parameter_number < 0) return InvalidArgument("Parameter number %d is negative", parameter_number);
  if (!aliases_.emplace(output_index, Alias{parameter_number, parameter_index, kind}).second) {
    return InvalidArgument("Output index %s has an alias already", output_index.ToString());
  }
  return absl::OkStatus();
}

std::optional<HloInputOutputAliasConfig::Alias> HloInputOutputAliasConfig::GetAliasedParameter(
    const ShapeIndex& output_index) const {
  const auto found = aliases_.find(output_index);
  return found == aliases_.end() ? std::nullopt : std::optional<Alias>(found->second);
}

std::optional<ShapeIndex> HloInputOutputAliasConfig::GetAliasedOutput(int64_t parameter_number,
                                                                      const ShapeIndex& parameter_index) const {
  const auto found = absl::c_find_if(aliases_, [&](const auto& entry) {
    return entry.second.parameter_number == parameter_number && entry.second.parameter_index == parameter_index;
  });
  return found == aliases_.end() ? std::nullopt : std::optional<ShapeIndex>(found->first);
}

bool HloInputOutputAliasConfig::ParameterMustAlias(int64_t parameter_number, const ShapeIndex& parameter_index) const {
  const std::optional<ShapeIndex> output = GetAliasedOutput(parameter_number, parameter_index);
  return output && aliases_.at(*output).must_alias();
}

std::string HloInputOutputAliasConfig::ToShortString() const {
  return absl::StrJoin(aliases_, ", ", [](std::string* out, const auto& entry) {
    const Alias& alias = entry.second;
    absl::StrAppend(out, entry.first.ToString(), ": ", ParameterText(alias.parameter_number, alias.parameter_index),
                    alias.must_alias() ? ", must-alias)" : ", may-alias)");
  });
}

absl::Status HloInputOutputAliasConfig::Verify(const HloModule& module) const {
  const Shape& result = module.result_shape();
  std::set<std::pair<int64_t, ShapeIndex>> aliased;
  for (const auto& [output_index, alias] : aliases_) {
    if (!ShapeUtil::IndexIsValid(result, output_index)) {
      return Internal("the result of shape %s has no index %s", ShapeUtil::HumanString(result),
                      output_index.ToString());
    }
    KASHI_ASSIGN_OR_RETURN(const Shape* parameter,
                           ParameterSubshape(module, alias.parameter_number, alias.parameter_index));
    const Shape& output = ShapeUtil::GetSubshape(result, output_index);
    if (!ShapeUtil::Compatible(*parameter, output)) {
      return Internal("parameter %s) of shape %s cannot share its buffer with output %s of shape %s",
                      ParameterText(alias.parameter_number, alias.parameter_index), ShapeUtil::HumanString(*parameter),
                      output_index.ToString(), ShapeUtil::HumanString(output));
    }
    if (!aliased.emplace(alias.parameter_number, alias.parameter_index).second) {
      return Internal("parameter %s) is aliased twice", ParameterText(alias.parameter_number, alias.parameter_index));
    }
  }
  return absl::OkStatus();
}

void HloBufferDonorConfig::AddBufferDonor(int64_t parameter_number, const ShapeIndex& parameter_index) {
  const BufferDonor donor = {parameter_number, parameter_index};
  const auto at = absl::c_lower_bound(donors_, donor);
  if (at == donors_.end() || !(*at == donor)) donors_.insert(at, donor);
}

bool HloBufferDonorConfig::ParameterIsBufferDonor(int64_t parameter_number, const ShapeIndex& parameter_index) const {
  return absl::c_binary_search(donors_, BufferDonor{parameter_number, parameter_index});
}

std::string HloBufferDonorConfig::ToShortString() const {
  return absl::StrJoin(donors_, ", ", [](std::string* out, const BufferDonor& donor) {
    absl::StrAppend(out, ParameterText(donor.param_number, donor.param_index), ")");
  });
}

absl::Status HloBufferDonorConfig::Verify(const HloModule& module) const {
  for (const BufferDonor& donor : donors_) {
    KASHI_ASSIGN_OR_RETURN(const Shape* shape, ParameterSubshape(module, donor.param_number, donor.param_index));
    (void)shape;
    if (module.input_output_alias_config().ParameterHasAlias(donor.param_number, donor.param_index)) {
      return Internal(
          "Input %d at index %s is registered as a buffer donor. However, it is also in the input output alias config.",
          donor.param_number, donor.param_index.ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace kashi
