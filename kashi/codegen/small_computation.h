// Operations whose operands are small arrays in registers, or one large array in memory; and computations of them.
//
//   i = s32[] …                            registers
//   row = f32[8] dynamic-slice(table, i)   8 loads from memory
//   y = f32[8] tanh(row)                   one vector
//   ROOT t = dynamic-update-slice(table, y, i)    8 stores
#ifndef KASHI_CODEGEN_SMALL_COMPUTATION_H_
#define KASHI_CODEGEN_SMALL_COMPUTATION_H_

#include <vector>

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// An array: in registers (small_array.h), or dense and row-major in memory.
struct SmallOperand {
  llvm::Value* registers = nullptr;
  llvm::Value* memory = nullptr;
};

// Whether EmitAlone supports it.
bool CanEmitAlone(const HloInstruction& instruction);
// Emits one operation that is no control flow, fusion or call. An operation that updates a large array writes to the
// memory of operand 0; then *value is null. Otherwise it is the result, in registers. False: there is no code for it.
bool EmitAlone(const LaneBuilder& lanes, const HloInstruction& instruction, absl::Span<const SmallOperand> operands,
               llvm::Value** value);

// Whether EmitSmallComputation supports it: a fused computation of operations that EmitAlone supports, which updates
// large arrays only at its root.
bool CanEmitSmallComputation(const HloComputation& fused);
// The number of the parameter that it updates in memory; -1: none.
int64_t UpdatedParameter(const HloComputation& fused);
// values: of the root, or of each operand of its tuple; null where they are in memory.
bool EmitSmallComputation(const LaneBuilder& lanes, const HloComputation& fused,
                          absl::Span<const SmallOperand> operands, std::vector<llvm::Value*>* values);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SMALL_COMPUTATION_H_
