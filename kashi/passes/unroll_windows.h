// Reductions of small windows as elementwise operations on slices, which fuse with their neighbours:
//
//   r = f32[8,56,56,64] reduce-window(x, init), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=add
//
//   becomes   r = ((init + x[:, 0::2, 0::2]) + x[:, 0::2, 1::2]) + ...     in the order of the window
//
// Only where the innermost dimension has no window, so that a loop over it reads vectors, and for arrays of a few
// elements, such as cumulative sums in a loop of small steps: they stay in registers.
#ifndef KASHI_PASSES_UNROLL_WINDOWS_H_
#define KASHI_PASSES_UNROLL_WINDOWS_H_

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

absl::Status UnrollWindows(HloModule* module, const PassContext& context);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_UNROLL_WINDOWS_H_
