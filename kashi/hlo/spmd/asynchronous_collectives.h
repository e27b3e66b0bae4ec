// Collective operations that one instruction starts and another ends.
//
//   all-reduce-start … all-reduce-done             all-gather, collective-permute
//   async-start … async-done, calls=computation    any collective operation, if the computation is nothing else
#ifndef KASHI_HLO_SPMD_ASYNCHRONOUS_COLLECTIVES_H_
#define KASHI_HLO_SPMD_ASYNCHRONOUS_COLLECTIVES_H_

#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {

// Whether the computation only applies one collective operation to its parameters.
bool WrapsCollective(const HloComputation& computation);
// The collective operation that this instruction starts, or the instruction itself if it is one: all-reduce-start for
// all-reduce-start, the all-to-all of its computation for async-start. Null: it starts none.
const HloInstruction* CollectiveBegunBy(const HloInstruction& instruction);
// The instruction that starts the collective operation that `done` ends. Null: it ends none.
const HloInstruction* StartOfCollective(const HloInstruction& done);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_ASYNCHRONOUS_COLLECTIVES_H_
