// One emitter for each elementwise operation: from register values of the operands to the register value of the result.
// The results are those of docs/spec/hlo-ops.md 1; differences between evaluator and compiled code: docs/fidelity.md.
//
// To compile a new elementwise operation, write its function in element_emitters_{real,integer,complex}.cc and add its
// row to the table there.
#ifndef KASHI_CODEGEN_ELEMENT_EMITTERS_H_
#define KASHI_CODEGEN_ELEMENT_EMITTERS_H_

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// The operands and the result of one instruction.
struct ElementOperation {
  const LaneBuilder& lanes;
  const HloInstruction& instruction;
  absl::Span<llvm::Value* const> operands;

  Ir& ir() const { return lanes.ir(); }
  PrimitiveType type() const { return instruction.shape().element_type(); }
  PrimitiveType operand_type(int i = 0) const { return instruction.operand(i)->shape().element_type(); }
  llvm::Value* x() const { return operands[0]; }
  llvm::Value* y() const { return operands[1]; }
};

using ElementEmitter = llvm::Value* (*)(const ElementOperation& op);

struct ElementEmitterRow {
  HloOpcode opcode;
  ElementEmitter emit;
  bool is_expensive = false;  // rather computed once and stored than twice
};

// Null: this operation cannot be compiled for these types. Only checks element types, not shapes.
const ElementEmitterRow* FindElementEmitter(const HloInstruction& instruction);

// The rows of real numbers (by the type of operand 0), of integers, of PRED, and of any type. Complex numbers: of both
// types; of C64, computed in f64; and the operation that makes one of two real numbers.
absl::Span<const ElementEmitterRow> RealEmitters();
absl::Span<const ElementEmitterRow> IntegerEmitters();
absl::Span<const ElementEmitterRow> PredEmitters();
absl::Span<const ElementEmitterRow> ConversionEmitters();
absl::Span<const ElementEmitterRow> ComplexEmitters();
absl::Span<const ElementEmitterRow> Complex64Emitters();
absl::Span<const ElementEmitterRow> ComposeEmitters();

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_ELEMENT_EMITTERS_H_
