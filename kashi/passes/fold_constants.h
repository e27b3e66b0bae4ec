// Folds values that are known when the program is compiled: small results of constants, and elements of tuples that are
// made in the same computation.
#ifndef KASHI_PASSES_FOLD_CONSTANTS_H_
#define KASHI_PASSES_FOLD_CONSTANTS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In all computations that are run as a whole. The evaluator computes the constants. Broadcasts stay, and a result with
// equal elements becomes one: kernels repeat a constant at no cost.
absl::Status FoldConstants(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_FOLD_CONSTANTS_H_
