#include "kashi/engine/leaves.h"

#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/value_util.h"

namespace kashi::engine {
namespace {

void AppendLeaves(const Shape& shape, std::vector<Shape>* leaves) {
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) { leaves->push_back(leaf); });
}

}  // namespace

std::vector<Shape> ArgumentLeaves(const HloComputation& entry) {
  std::vector<Shape> leaves;
  for (const HloInstruction* parameter : entry.parameter_instructions()) AppendLeaves(parameter->shape(), &leaves);
  return leaves;
}

std::vector<Shape> ResultLeaves(const HloComputation& entry) {
  std::vector<Shape> leaves;
  AppendLeaves(entry.root_instruction()->shape(), &leaves);
  return leaves;
}

std::vector<Value> ArgumentsOfLeaves(const HloComputation& entry, std::vector<Value> leaves) {
  std::vector<Value> arguments;
  Value* next = leaves.data();
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    arguments.push_back(values::ValueOfLeaves(parameter->shape(), &next));
  }
  return arguments;
}

std::vector<Value> LeavesOf(Value value) {
  std::vector<Value> leaves;
  values::TakeLeaves(std::move(value), &leaves);
  return leaves;
}

std::vector<bool> DonatedLeaves(const HloModule& module) {
  const HloComputation& entry = *module.entry_computation();
  std::vector<bool> donated;
  for (int64_t parameter = 0; parameter < entry.num_parameters(); ++parameter) {
    ShapeUtil::ForEachLeafShape(
        entry.parameter_instruction(parameter)->shape(), [&](const Shape&, const ShapeIndex& index) {
          donated.push_back(module.input_output_alias_config().ParameterHasAlias(parameter, index) ||
                            module.buffer_donor_config().ParameterIsBufferDonor(parameter, index));
        });
  }
  return donated;
}

}  // namespace kashi::engine
