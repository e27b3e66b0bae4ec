// Sorts of short lines, as a loop: each element moves up to its place among those before it, which is stable.
//
//   for each line:
//     for j = 1 … n-1:  x = line[j];  for p = j; p > 0 and less(x, line[p-1]); --p: line[p] = line[p-1];  line[p] = x
#ifndef KASHI_CODEGEN_SMALL_SORT_H_
#define KASHI_CODEGEN_SMALL_SORT_H_

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::codegen {

// Whether EmitSmallSort supports it: lines of at most 64 elements, of at most 1,024 elements in all, whose comparison
// has code for scalars.
bool CanEmitSmallSort(const HloInstruction& sort);
// Sorts the arrays in place: dense and row-major, one for each operand.
void EmitSmallSort(const LaneBuilder& lanes, const HloInstruction& sort, absl::Span<llvm::Value* const> arrays);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SMALL_SORT_H_
