// Instructions whose values nobody uses.
#ifndef KASHI_REDUCTION_DEAD_CODE_H_
#define KASHI_REDUCTION_DEAD_CODE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::reduction {

using IsLive = absl::FunctionRef<bool(const HloInstruction* instruction)>;

// The instructions of all computations that neither a root depends on, nor an instruction with a side effect or with
// control dependencies, nor one that `is_live`. O(instructions).
std::vector<const HloInstruction*> FindDeadCode(const HloModule& module, IsLive is_live);
// Removes them, and computations that nobody calls.
void RemoveDeadCode(HloModule* module, IsLive is_live);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_DEAD_CODE_H_
