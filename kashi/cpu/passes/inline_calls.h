// Puts the bodies of calls and fusions in the place of the instructions that call them, so that fusion sees one graph.
#ifndef KASHI_CPU_PASSES_INLINE_CALLS_H_
#define KASHI_CPU_PASSES_INLINE_CALLS_H_

#include <vector>

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::internal {

// In all computations that are run as a whole: the entry, and the bodies of loops, branches and calls. A call stays
// where control dependencies order it, or where the module would become more than some times its size.
absl::Status InlineCalls(HloModule* module);

// The computations that are run as a whole, callees first. The others work on scalars, for reduce, sort and so on.
std::vector<HloComputation*> ComputationsRunAsAWhole(HloModule* module);

}  // namespace kashi::internal

#endif  // KASHI_CPU_PASSES_INLINE_CALLS_H_
