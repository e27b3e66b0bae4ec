// The operations that begin, continue and end an asynchronous operation, and which of them may follow which.
//
//   copy-start     only one user, a copy-done
//   copy-done      its operand is a copy-start
#ifndef KASHI_HLO_VERIFIER_ASYNC_PAIRS_H_
#define KASHI_HLO_VERIFIER_ASYNC_PAIRS_H_

#include <vector>

#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::hlo {

struct AsyncPairing {
  HloOpcode opcode;
  std::vector<HloOpcode> only_user;  // the opcodes that its only user may have; empty: any users
  std::vector<HloOpcode> operand;    // the opcodes that its first operand may have; empty: any
};

absl::Span<const AsyncPairing> AsyncPairings();
// Null for other operations. O(1).
const AsyncPairing* FindAsyncPairing(HloOpcode opcode);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_VERIFIER_ASYNC_PAIRS_H_
