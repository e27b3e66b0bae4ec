// The two ends of asynchronous operations: copy-start and copy-done, and so on (kashi/hlo/verifier/async_pairs.h). One
// end alone is not valid, so transformations take both or none.
#ifndef KASHI_REDUCTION_ASYNC_ENDS_H_
#define KASHI_REDUCTION_ASYNC_ENDS_H_

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/verifier/async_pairs.h"

namespace kashi::reduction {

// Something else must end, or continue, what the instruction begins.
inline bool NeedsEnd(const HloInstruction& x) {
  const hlo::AsyncPairing* const pairing = hlo::FindAsyncPairing(x.opcode());
  return pairing != nullptr && !pairing->only_user.empty();
}

// What the instruction ends or continues; null: nothing.
inline HloInstruction* BeginningOf(const HloInstruction& x) {
  const hlo::AsyncPairing* const pairing = hlo::FindAsyncPairing(x.opcode());
  if (pairing == nullptr || pairing->operand.empty() || x.operand_count() == 0) return nullptr;
  return NeedsEnd(*x.operand(0)) ? x.operands()[0] : nullptr;
}

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_ASYNC_ENDS_H_
