// Loops of few iterations on large arrays become straight code, in one kernel: values that an iteration writes and the
// next one reads stay in registers. An example is the five iterations of JAX's threefry, which makes random bits.
//
//   s = (i, x, y)    while i < 5: s = body(s)        body(body(body(body(body(s)))))
#ifndef KASHI_PASSES_UNROLL_LOOPS_H_
#define KASHI_PASSES_UNROLL_LOOPS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// Loops whose number of iterations is known and whose body has only operations that kernels compute. Loops on small
// arrays stay, since they become native functions. Calls must have been inlined.
absl::Status UnrollLoops(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_UNROLL_LOOPS_H_
