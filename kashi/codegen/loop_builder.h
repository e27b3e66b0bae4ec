// Counted loops in LLVM IR.
#ifndef KASHI_CODEGEN_LOOP_BUILDER_H_
#define KASHI_CODEGEN_LOOP_BUILDER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"

namespace kashi::codegen {

// for (i = begin; i + step <= end; i += step) body(i). Returns the first i that was not handled. The builder is then
// after the loop.
llvm::Value* EmitLoop(Ir& ir, llvm::Value* begin, llvm::Value* end, int64_t step,
                      absl::FunctionRef<void(llvm::Value* i)> body);

// Covers [begin, end) in vectors of lanes[0], the rest in vectors of lanes[1], and so on, until nothing is left.
void EmitLaneLoops(Ir& ir, llvm::Value* begin, llvm::Value* end, absl::Span<const int> lanes,
                   absl::FunctionRef<void(int lanes, llvm::Value* i)> body);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_LOOP_BUILDER_H_
