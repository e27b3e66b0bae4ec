#include "kashi/engine/leaves.h"

#include <utility>

#include "kashi/array/shape_util.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {
namespace {

void AppendLeaves(const Shape& shape, std::vector<Shape>* leaves) {
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex&) { leaves->push_back(leaf); });
}

Value Assemble(const Shape& shape, std::vector<Value>& leaves, size_t* next) {
  if (!shape.IsTuple()) return std::move(leaves[(*next)++]);
  std::vector<Value> elements;
  for (const Shape& element : shape.tuple_shapes()) elements.push_back(Assemble(element, leaves, next));
  return Value::MakeTuple(std::move(elements));
}

void TakeApart(Value value, std::vector<Value>* leaves) {
  if (!value.is_tuple()) return leaves->push_back(std::move(value));
  std::vector<Value> elements(value.elements().begin(), value.elements().end());
  value = Value();  // so that an element that only this tuple has is unique
  for (Value& element : elements) TakeApart(std::move(element), leaves);
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
  size_t next = 0;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    arguments.push_back(Assemble(parameter->shape(), leaves, &next));
  }
  return arguments;
}

std::vector<Value> LeavesOf(Value value) {
  std::vector<Value> leaves;
  TakeApart(std::move(value), &leaves);
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

}  // namespace kashi::internal
