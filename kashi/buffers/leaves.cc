#include "kashi/buffers/leaves.h"

#include <map>

#include "absl/container/flat_hash_set.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/work_meter.h"
#include "kashi/buffers/in_place_order.h"

namespace kashi::buffers {

int64_t LeavesBefore(const Shape& tuple, int64_t i) {
  int64_t count = 0;
  for (int64_t k = 0; k < i; ++k) count += ShapeUtil::GetLeafCount(tuple.tuple_shapes(k));
  return count;
}

std::optional<std::vector<int64_t>> LeafBytes(const Shape& shape) {
  if (shape.IsTuple()) {
    std::vector<int64_t> bytes;
    for (const Shape& element : shape.tuple_shapes()) {
      const std::optional<std::vector<int64_t>> more = LeafBytes(element);
      if (!more.has_value()) return std::nullopt;
      bytes.insert(bytes.end(), more->begin(), more->end());
    }
    return bytes;
  }
  if (!shape.IsArray() || !shape.is_static()) return std::nullopt;
  int64_t bytes = primitive_util::ByteWidth(shape.element_type());
  for (int64_t size : shape.dimensions()) bytes = SaturatingMultiply(bytes, size);
  if (bytes == INT64_MAX) return std::nullopt;
  return std::vector<int64_t>{bytes};
}

namespace {

// Whether an array may lie where another one was: as many elements, of one width.
bool FitsInPlaceOf(const Shape& array, const Shape& other) {
  return array.IsArray() && other.IsArray() && array.is_static() && other.is_static() &&
         primitive_util::ByteWidth(array.element_type()) == primitive_util::ByteWidth(other.element_type()) &&
         ShapeUtil::ElementsIn(array) == ShapeUtil::ElementsIn(other);
}

struct NumberedLeaf {
  int64_t number;
  Shape shape;
};
using LeavesByIndex = std::map<ShapeIndex, NumberedLeaf>;

// The leaves of a shape, numbered from `first` on.
LeavesByIndex NumberedLeaves(const Shape& shape, int64_t first) {
  LeavesByIndex leaves;
  ShapeUtil::ForEachLeafShape(shape, [&](const Shape& leaf, const ShapeIndex& index) {
    leaves.emplace(index, NumberedLeaf{first++, leaf});
  });
  return leaves;
}

}  // namespace

std::vector<LeafAlias> AliasesOf(const HloModule& module) {
  std::vector<LeafAlias> aliases;
  if (module.input_output_alias_config().empty()) return aliases;
  const HloComputation& entry = *module.entry_computation();
  std::vector<LeavesByIndex> arguments;
  int64_t count = 0;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    arguments.push_back(NumberedLeaves(parameter->shape(), count));
    count += static_cast<int64_t>(arguments.back().size());
  }
  const LeavesByIndex results = NumberedLeaves(entry.root_instruction()->shape(), 0);
  absl::flat_hash_set<int64_t> taken;
  for (const auto& [output, alias] : module.input_output_alias_config().aliases()) {
    const auto result = results.find(output);
    if (result == results.end() || alias.parameter_number < 0 || alias.parameter_number >= entry.num_parameters()) {
      continue;
    }
    const LeavesByIndex& leaves = arguments[alias.parameter_number];
    const auto argument = leaves.find(alias.parameter_index);
    if (argument == leaves.end() || !FitsInPlaceOf(result->second.shape, argument->second.shape)) continue;
    if (taken.insert(argument->second.number).second) {
      aliases.push_back({argument->second.number, result->second.number});
    }
  }
  return aliases;
}

bool KeepsElements(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kOptimizationBarrier) {
    return ShapeUtil::Compatible(instruction.shape(), instruction.operand(0)->shape());
  }
  return (instruction.opcode() == HloOpcode::kReshape || instruction.opcode() == HloOpcode::kCopy) &&
         instruction.shape().IsArray() &&
         instruction.shape().element_type() == instruction.operand(0)->shape().element_type();
}

std::optional<LeafOf> ForwardedFrom(const LeafOf& at) {
  const HloInstruction& x = *at.instruction;
  if (KeepsElements(x)) return LeafOf{x.operand(0), at.leaf};
  if (x.opcode() == HloOpcode::kGetTupleElement) {
    return LeafOf{x.operand(0), at.leaf + LeavesBefore(x.operand(0)->shape(), x.tuple_index())};
  }
  if (x.opcode() != HloOpcode::kTuple) return std::nullopt;
  int64_t element = 0, leaf = at.leaf;
  for (; leaf >= ShapeUtil::GetLeafCount(x.operand(element)->shape()); ++element) {
    leaf -= ShapeUtil::GetLeafCount(x.operand(element)->shape());
  }
  return LeafOf{x.operand(element), leaf};
}

namespace {

// The leaf of an operand that the instruction may update to make this one.
std::optional<LeafOf> UpdatedFrom(const LeafOf& at) {
  const HloInstruction& x = *at.instruction;
  if (x.opcode() == HloOpcode::kWhile) return LeafOf{x.operand(0), at.leaf};
  if (x.opcode() == HloOpcode::kConditional) {
    const int64_t argument = UpdatedArgument(*x.branch_computation(0), at.leaf);
    return argument < 0 ? std::nullopt : std::make_optional(LeafOf{x.operand(1), argument});
  }
  const int64_t operand = OperandUpdatedInPlace(x);
  return operand < 0 ? std::nullopt : std::make_optional(LeafOf{x.operand(operand), 0});
}

}  // namespace

std::optional<LeafOf> ForwardedOrUpdatedFrom(const LeafOf& at) {
  std::optional<LeafOf> from = ForwardedFrom(at);
  if (!from.has_value()) from = UpdatedFrom(at);
  // The shapes of loops and branches need not fit those of their operands.
  return from.has_value() && from->leaf < ShapeUtil::GetLeafCount(from->instruction->shape()) ? from : std::nullopt;
}

int64_t UpdatedArgument(const HloComputation& computation, int64_t leaf) {
  std::optional<LeafOf> at = LeafOf{computation.root_instruction(), leaf};
  while (at.has_value() && at->instruction->opcode() != HloOpcode::kParameter) at = ForwardedOrUpdatedFrom(*at);
  return at.has_value() ? at->leaf : -1;
}

RootLeaves FindRootLeaves(const HloInstruction& root, LeafOrigin origin) {
  RootLeaves found;
  const int64_t count = ShapeUtil::GetLeafCount(root.shape());
  for (int64_t i = 0; i < count; ++i) {
    std::optional<LeafOf> at = LeafOf{&root, i};
    while (at.has_value() && found.try_emplace({at->instruction, at->leaf}, i).second) at = origin(*at);
  }
  return found;
}

}  // namespace kashi::buffers
