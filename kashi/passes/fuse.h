// Gathers instructions into `fusion` instructions, each of which becomes one kernel.
#ifndef KASHI_PASSES_FUSE_H_
#define KASHI_PASSES_FUSE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// In all computations that are run as a whole, by instructions that are not compiled already. The root of a fusion is
// an elementwise operation, a reduce, a gather or a scatter of elements; or a tuple of elementwise ones, where several
// fusions were merged (merge_fusions.h). An instruction joins the fusion of its users
// if all of them are in one; cheap ones are copied into several. Nothing that is expensive is computed more often than
// once for each of its elements.
//
// Returns the fusions, which are to have kernels. (Fusions of the module's own that could not be inlined stay as well.)
absl::StatusOr<std::vector<HloInstruction*>> FuseInstructions(HloModule* module, const PassContext& context,
                                                              IsCompiled is_compiled = IsNotCompiled);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_FUSE_H_
