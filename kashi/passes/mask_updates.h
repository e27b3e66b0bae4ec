// A choice between an array and updates of it becomes updates that change nothing where the array was chosen. So the
// array can be updated in place, and nothing goes through all of its elements.
//
//   p = pred[1000] broadcast(q)                            i' = select(q, i, -1)           -1: beyond the array
//   a = scatter(x, i, u)                          =>       a' = scatter(x, i', u)
//   b = dynamic-update-slice(a, v, k)                      v' = select(q, v, dynamic-slice(a', k))
//   c = select(p, b, x)                                    c  = dynamic-update-slice(a', v', k)
#ifndef KASHI_PASSES_MASK_UPDATES_H_
#define KASHI_PASSES_MASK_UPDATES_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In all computations that are run as a whole, where one scalar chooses the array, and nothing else uses the updates.
absl::Status MaskUpdates(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_MASK_UPDATES_H_
