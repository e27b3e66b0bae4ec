// Sums of a repeated element become a product, as XLA's algebraic simplifier makes them:
//
//   b = f32[17,4] broadcast(x), dimensions={1}          p = f32[4] multiply(x, 17)
//   s = f32[4] reduce(b, init), dimensions={0}          s = f32[4] add(p, init)
//
// `x - mean(b)` is then 0, as it is in XLA. A sum of 17 roundings would leave a rest, which a division by a small
// deviation makes large.
#ifndef KASHI_PASSES_SUM_REPEATS_H_
#define KASHI_PASSES_SUM_REPEATS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

absl::Status SumRepeats(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_SUM_REPEATS_H_
