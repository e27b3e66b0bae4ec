// Computations on scalars: the combiners of reduce, scatter and others.
#ifndef KASHI_PASSES_COMBINER_H_
#define KASHI_PASSES_COMBINER_H_

#include <optional>

#include "kashi/hlo/ir/combiner.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi/passes/code_support.h"

namespace kashi::passes {

// Whether all instructions are scalar parameters, scalar constants and elementwise operations with code; the root may
// be a tuple of them.
bool IsScalarComputation(const HloComputation& computation, const CodeSupport& support);

// The ReorderableCombiner of a reduce of one plain array, all in one type and without control dependencies. Nullopt for
// any other instruction.
std::optional<HloOpcode> CombinerOfPlainReduce(const HloInstruction& x);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_COMBINER_H_
