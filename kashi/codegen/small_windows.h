// Gather and scatter of a few elements, with separate code for each. The array that is read or written is in memory, or
// it is a small array in registers (small_array.h).
//
//   x = f32[1000] scatter(x, s32[1] i, f32[] u), to_apply=add          if i < 1000 (unsigned): x[i] = x[i] + u
//   y = f32[2,3] gather(f32[1000,3] x, s32[2] i)                       6 loads; i is clamped
#ifndef KASHI_CODEGEN_SMALL_WINDOWS_H_
#define KASHI_CODEGEN_SMALL_WINDOWS_H_

#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// An element after an update by the computation of the scatter, on one lane. The update is rounded by itself: a product
// in it is not fused with the sum.
llvm::Value* EmitCombined(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* before,
                          llvm::Value* update);

// Whether the functions below can emit it: the gathered or scattered elements, and the indices, are small arrays. The
// array that is read or written may have any size.
bool CanEmitSmallGather(const HloInstruction& gather);
bool CanEmitSmallScatter(const HloInstruction& scatter);

// The gathered elements: from memory, or from an array in registers.
llvm::Value* EmitGatherFromMemory(const LaneBuilder& lanes, const HloInstruction& gather, llvm::Value* memory,
                                  llvm::Value* indices);
llvm::Value* EmitGatherFromRegisters(const LaneBuilder& lanes, const HloInstruction& gather, llvm::Value* array,
                                     llvm::Value* indices);

// Updates memory, which adds blocks to the function; or returns the updated array in registers.
void EmitScatterToMemory(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* memory,
                         llvm::Value* indices, llvm::Value* updates);
llvm::Value* EmitScatterToRegisters(const LaneBuilder& lanes, const HloInstruction& scatter, llvm::Value* array,
                                    llvm::Value* indices, llvm::Value* updates);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SMALL_WINDOWS_H_
