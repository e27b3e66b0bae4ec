// Computations on scalars (the combiners of reduce and others), emitted inline on every lane.
#ifndef KASHI_CPU_CODEGEN_SCALAR_COMPUTATION_H_
#define KASHI_CPU_CODEGEN_SCALAR_COMPUTATION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "kashi/cpu/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/literal/literal.h"

namespace kashi::internal {

// Whether all instructions are scalar parameters, scalar constants and elementwise operations with an emitter; the root
// may be a tuple of them.
bool IsScalarComputation(const HloComputation& computation);

// The root's value, or those of its elements, for these values of the parameters. Needs IsScalarComputation.
std::vector<llvm::Value*> EmitScalarComputation(const LaneBuilder& lanes, const HloComputation& computation,
                                                absl::Span<llvm::Value* const> parameters);

// One element of a literal, in every lane. The type must have a register type.
llvm::Value* EmitLiteralElement(const LaneBuilder& lanes, const Literal& literal,
                                absl::Span<const int64_t> multi_index);
// A scalar constant in every lane.
llvm::Value* EmitScalarConstant(const LaneBuilder& lanes, const HloInstruction& constant);

// Set if the root is one operation on the two parameters, in either order, that may be regrouped and reordered: add,
// multiply, maximum, minimum, and, or, xor.
std::optional<HloOpcode> ReorderableCombiner(const HloComputation& computation);
// The same of a reduce of one array that kernels can compute with, all in one type and without control dependencies.
// Nullopt for any other instruction.
std::optional<HloOpcode> CombinerOfPlainReduce(const HloInstruction& x);

}  // namespace kashi::internal

#endif  // KASHI_CPU_CODEGEN_SCALAR_COMPUTATION_H_
