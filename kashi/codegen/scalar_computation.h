// Computations on scalars (the combiners of reduce and others), emitted inline on every lane.
#ifndef KASHI_CODEGEN_SCALAR_COMPUTATION_H_
#define KASHI_CODEGEN_SCALAR_COMPUTATION_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::codegen {

// The value of the root, or of its elements, for these values of the parameters. Pre: IsScalarComputation
// (kashi/passes/combiner.h).
std::vector<llvm::Value*> EmitScalarComputation(const LaneBuilder& lanes, const HloComputation& computation,
                                                absl::Span<llvm::Value* const> parameters);

// One element of a literal, in every lane. The type must have a register type.
llvm::Value* EmitLiteralElement(const LaneBuilder& lanes, const Literal& literal,
                                absl::Span<const int64_t> multi_index);
// A scalar constant in every lane.
llvm::Value* EmitScalarConstant(const LaneBuilder& lanes, const HloInstruction& constant);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_SCALAR_COMPUTATION_H_
