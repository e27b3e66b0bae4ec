// The shape that an instruction's operands and attributes ask for: ShapeInference for a whole instruction. The reader
// asks it where text leaves a shape out, the builder for new instructions, the verifier to compare with the shape
// written.
#ifndef KASHI_HLO_INSTRUCTION_SHAPE_H_
#define KASHI_HLO_INSTRUCTION_SHAPE_H_

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/hlo_instruction.h"

namespace kashi {

// By the shape rule of its opcode (shape_rules.def). Of the instruction's own shape, which may be wrong, only that
// counts which nothing else says:
//
//   convert, bitcast-convert       the element type
//   reshape, dynamic-reshape       the sizes, of dynamic-reshape the flags too
//   dot, convolution, …            the element type, if the shape is an array; otherwise the operands decide
//   all-gather, reduce-scatter     the number of pieces: the ratio of the written size to the operand's
//   …-start                        the contexts behind the result
//
// `broadcast` is read as XLA reads it from text without a shape: `dimensions` are sizes of new major dimensions.
//
// Never dies for an instruction from outside: INVALID_ARGUMENT if operands, required fields or computations are
// missing, UNIMPLEMENTED for an opcode without a rule; otherwise ShapeInference's errors.
absl::StatusOr<Shape> InferInstructionShape(const HloInstruction& instruction);

// INVALID_ARGUMENT unless an opcode with a fixed number of operands has that many, and every required attribute is there.
absl::Status CheckInstructionIsComplete(const HloInstruction& instruction);

}  // namespace kashi

#endif  // KASHI_HLO_INSTRUCTION_SHAPE_H_
