// Reductions of many elements to few results in two steps, so that threads share the first:
//
//   s = f32[] reduce(x, init), dimensions={0}              x: f32[16777216]
//
//   becomes   v = f32[128,131072] reshape(x)               costs nothing in a kernel
//             p = f32[128] reduce(v, -0), dimensions={1}   128 rows: threads get ranges of them
//             s = f32[] reduce(p, init), dimensions={0}
//
// The sizes alone decide on the parts, so the result does not depend on the number of threads.
#ifndef KASHI_PASSES_SPLIT_REDUCTIONS_H_
#define KASHI_PASSES_SPLIT_REDUCTIONS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// Splits only reductions that kernels regroup anyway: sums and products of types that keep the sum of parts as it is,
// and minima, maxima, and, or, xor of all types.
absl::Status SplitReductions(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_SPLIT_REDUCTIONS_H_
