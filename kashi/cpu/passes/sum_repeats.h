// Sums of a repeated element become a product, as XLA's algebraic simplifier makes them:
//
//   b = f32[17,4] broadcast(x), dimensions={1}          p = f32[4] multiply(x, 17)
//   s = f32[4] reduce(b, init), dimensions={0}          s = f32[4] add(p, init)
//
// `x - mean(b)` is then 0, as it is in XLA. A sum of 17 roundings would leave a rest, which a division by a small
// deviation makes large.
#ifndef KASHI_CPU_PASSES_SUM_REPEATS_H_
#define KASHI_CPU_PASSES_SUM_REPEATS_H_

#include "absl/status/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::internal {

absl::Status SumRepeats(HloModule* module, StopFunction check_stopped = NeverStopped);

}  // namespace kashi::internal

#endif  // KASHI_CPU_PASSES_SUM_REPEATS_H_
