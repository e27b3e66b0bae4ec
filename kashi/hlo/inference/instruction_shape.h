// The shape that follows from an instruction's operands and attributes: ShapeInference for a whole instruction. The
// reader uses it for text without a shape, the builder for new instructions, the verifier to compare it with the shape
// written.
#ifndef KASHI_HLO_INFERENCE_INSTRUCTION_SHAPE_H_
#define KASHI_HLO_INFERENCE_INSTRUCTION_SHAPE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {

// The most subshapes of tuples that one inference visits: a third of a GiB. A few lines of text, each a tuple that
// contains the one before several times, can describe shapes that exceed any memory.
inline constexpr int64_t kMaxInferredSubshapes = int64_t{1} << 20;

// Infers the shape by the shape rule of the opcode (shape_rules.def). The instruction's own shape may be wrong. Only
// the parts that nothing else determines are used:
//
//   convert, bitcast-convert       the element type
//   reshape, dynamic-reshape       the sizes; for dynamic-reshape also the flags
//   dot, convolution, …            the element type, if the shape is an array; otherwise the operands decide
//   all-gather, reduce-scatter     the number of pieces: the ratio of the written size to the operand's
//   …-start                        the contexts after the result
//
// `broadcast` is read as XLA reads it from text without a shape: `dimensions` are sizes of new major dimensions.
//
// Never dies for an instruction from text or protos. INVALID_ARGUMENT if operands, required fields or computations are
// missing, or if operands and called computations together have more than kMaxInferredSubshapes subshapes (except for
// get-tuple-element). UNIMPLEMENTED for an opcode without a rule. Otherwise ShapeInference's errors.
absl::StatusOr<Shape> InferInstructionShape(const HloInstruction& instruction);

// Whether the opcode allows this number of operands; some opcodes allow any number. An async-update may have more
// operands, its arguments, as in programs of the TPU's sparse core.
bool HasItsOperandCount(const HloInstruction& instruction);

// INVALID_ARGUMENT if an opcode with a fixed number of operands has another number, or if a required attribute is
// missing.
absl::Status CheckInstructionIsComplete(const HloInstruction& instruction);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_INFERENCE_INSTRUCTION_SHAPE_H_
