// The forms of ShapeInference that take instructions: their shapes count.
#include <vector>

#include "kashi/hlo/inference/shape_inference.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi {

absl::StatusOr<Shape> ShapeInference::InferUnaryOpShape(HloOpcode opcode, const HloInstruction* operand) {
  return InferUnaryOpShape(opcode, operand->shape());
}

absl::StatusOr<Shape> ShapeInference::InferBinaryOpShape(HloOpcode opcode, const HloInstruction* lhs,
                                                         const HloInstruction* rhs) {
  return InferBinaryOpShape(opcode, lhs->shape(), rhs->shape(), /*broadcast_dimensions=*/{});
}

absl::StatusOr<Shape> ShapeInference::InferTernaryOpShape(HloOpcode opcode, const HloInstruction* lhs,
                                                          const HloInstruction* rhs, const HloInstruction* ehs) {
  return InferTernaryOpShape(opcode, lhs->shape(), rhs->shape(), ehs->shape());
}

absl::StatusOr<Shape> ShapeInference::InferVariadicOpShape(HloOpcode opcode,
                                                           absl::Span<const HloInstruction* const> operands) {
  std::vector<const Shape*> shapes;
  shapes.reserve(operands.size());
  for (const HloInstruction* operand : operands) shapes.push_back(&operand->shape());
  return InferVariadicOpShape(opcode, shapes);
}

}  // namespace kashi
