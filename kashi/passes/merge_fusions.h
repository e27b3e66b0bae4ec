// Makes one fusion with several results of fusions that go through arrays of the same sizes, element by element.
//
//   m' = fusion(m, g)                  {m', v', p'} = fusion(m, v, p, g)      a step of Adam: g is read once,
//   v' = fusion(v, g)                                                         m' and v' are not read at all
//   p' = fusion(p, m', v')
//
// The later fusion reads a result of the earlier one, or both read an array of the same sizes as their results. An
// elementwise operation that alone is not worth a kernel counts as a fusion here.
//
// The order of the computation decides what may be merged: the earlier fusion moves to the place of the later one, so
// all its other users must come after that. The order stays one in which operands come first.
#ifndef KASHI_PASSES_MERGE_FUSIONS_H_
#define KASHI_PASSES_MERGE_FUSIONS_H_

#include <vector>

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/passes/pass.h"

namespace kashi::passes {

// fusions: of this computation, from FuseInstructions. Merged ones are replaced. Cost: linear in the computation and
// the members of the fusions; merges of more than some members, results or arrays are not tried.
absl::Status MergeFusions(HloComputation* computation, const PassContext& context,
                          std::vector<HloInstruction*>* fusions);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_MERGE_FUSIONS_H_
