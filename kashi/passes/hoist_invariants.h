// Computes before a loop what each of its iterations would compute again: the result becomes an element of the state,
// which the body hands on.
//
//   body: state = (i, x, w)                     before: s = sort(w)
//     s = sort(w)                       ->      body: state = (i, x, w, s)
//     (i + 1, x + s, w)                           (i + 1, x + s, w, s)
//
// A value is invariant if all that it depends on are constants and elements of the state that the body hands on. Only
// values that cost more than to read them again move: products, sums, functions such as exp, and copies in another
// order. The loop holds them in memory as long as it runs, so there is a limit.
#ifndef KASHI_PASSES_HOIST_INVARIANTS_H_
#define KASHI_PASSES_HOIST_INVARIANTS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In the computations that are run as a whole, inner loops first. A loop stays as it is if others run its body too, if
// it has shardings or control dependencies, or if its state is used as a whole.
absl::Status HoistInvariants(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_HOIST_INVARIANTS_H_
