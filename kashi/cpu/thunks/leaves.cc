#include "kashi/cpu/thunks/leaves.h"

#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/in_place_order.h"

namespace kashi::internal {

int64_t LeafCount(const Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) count += LeafCount(element);
  return count;
}

int64_t LeavesBefore(const Shape& tuple, int64_t i) {
  int64_t count = 0;
  for (int64_t k = 0; k < i; ++k) count += LeafCount(tuple.tuple_shapes(k));
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

bool HasFixedLeaves(const ComputationPlanStep& step) {
  const HloInstruction& instruction = *step.instruction;
  if (!step.refusal.ok() || step.has_dynamic_sizes || step.converts_operands) return false;
  if (instruction.HasControlDependencies() || !LeafBytes(instruction.shape()).has_value()) return false;
  const bool is_call = instruction.opcode() == HloOpcode::kParameter || instruction.opcode() == HloOpcode::kWhile ||
                       instruction.opcode() == HloOpcode::kConditional || instruction.opcode() == HloOpcode::kFusion ||
                       instruction.opcode() == HloOpcode::kCall;
  return is_call || !step.may_differ_from_shape;
}

bool KeepsElements(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kOptimizationBarrier) {
    return ShapeUtil::Compatible(instruction.shape(), instruction.operand(0)->shape());
  }
  return (instruction.opcode() == HloOpcode::kReshape || instruction.opcode() == HloOpcode::kCopy) &&
         instruction.shape().IsArray() &&
         instruction.shape().element_type() == instruction.operand(0)->shape().element_type();
}

namespace {

// A leaf of an instruction's value.
struct LeafOf {
  const HloInstruction* instruction;
  int64_t leaf;
};

// The leaf of an operand that this one is, by tuples and by operations that keep elements; nothing: it is no operand's.
std::optional<LeafOf> ForwardedFrom(const LeafOf& at) {
  const HloInstruction& x = *at.instruction;
  if (KeepsElements(x)) return LeafOf{x.operand(0), at.leaf};
  if (x.opcode() == HloOpcode::kGetTupleElement) {
    return LeafOf{x.operand(0), at.leaf + LeavesBefore(x.operand(0)->shape(), x.tuple_index())};
  }
  if (x.opcode() != HloOpcode::kTuple) return std::nullopt;
  int64_t element = 0, leaf = at.leaf;
  for (; leaf >= LeafCount(x.operand(element)->shape()); ++element) leaf -= LeafCount(x.operand(element)->shape());
  return LeafOf{x.operand(element), leaf};
}

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

int64_t UpdatedArgument(const HloComputation& computation, int64_t leaf) {
  std::optional<LeafOf> at = LeafOf{computation.root_instruction(), leaf};
  while (at.has_value() && at->instruction->opcode() != HloOpcode::kParameter) {
    const std::optional<LeafOf> forwarded = ForwardedFrom(*at);
    at = forwarded.has_value() ? forwarded : UpdatedFrom(*at);
    // The shapes of loops and branches need not fit those of their operands.
    if (at.has_value() && at->leaf >= LeafCount(at->instruction->shape())) return -1;
  }
  return at.has_value() ? at->leaf : -1;
}

RootLeaves FindRootLeaves(const HloInstruction& root) {
  RootLeaves found;
  const int64_t count = LeafCount(root.shape());
  for (int64_t i = 0; i < count; ++i) {
    std::optional<LeafOf> at = LeafOf{&root, i};
    while (at.has_value() && found.try_emplace({at->instruction, at->leaf}, i).second) at = ForwardedFrom(*at);
  }
  return found;
}

}  // namespace kashi::internal
