#include "kashi/cpu/thunks/leaves.h"

#include "kashi/array/primitive_util.h"
#include "kashi/base/work_meter.h"

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
  return (instruction.opcode() == HloOpcode::kReshape || instruction.opcode() == HloOpcode::kCopy) &&
         instruction.shape().IsArray() &&
         instruction.shape().element_type() == instruction.operand(0)->shape().element_type();
}

RootLeaves FindRootLeaves(const HloInstruction& root) {
  RootLeaves found;
  const int64_t count = LeafCount(root.shape());
  for (int64_t i = 0; i < count; ++i) {
    const HloInstruction* at = &root;
    int64_t leaf = i;
    while (found.try_emplace({at, leaf}, i).second) {
      if (at->opcode() == HloOpcode::kTuple) {
        int64_t element = 0;
        for (; leaf >= LeafCount(at->operand(element)->shape()); ++element) {
          leaf -= LeafCount(at->operand(element)->shape());
        }
        at = at->operand(element);
      } else if (at->opcode() == HloOpcode::kGetTupleElement) {
        leaf += LeavesBefore(at->operand(0)->shape(), at->tuple_index());
        at = at->operand(0);
      } else if (KeepsElements(*at)) {
        at = at->operand(0);
      } else {
        break;
      }
    }
  }
  return found;
}

}  // namespace kashi::internal
