#include "kashi/hlo/verifier/async_pairs.h"

#include "absl/container/flat_hash_map.h"

namespace kashi::hlo {

absl::Span<const AsyncPairing> AsyncPairings() {
  static const auto* const pairings = new std::vector<AsyncPairing>{
      {HloOpcode::kAsyncStart, {HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone}, {}},
      {HloOpcode::kAsyncUpdate,
       {HloOpcode::kAsyncUpdate, HloOpcode::kAsyncDone},
       {HloOpcode::kAsyncStart, HloOpcode::kAsyncUpdate}},
      {HloOpcode::kAsyncDone, {}, {HloOpcode::kAsyncStart, HloOpcode::kAsyncUpdate}},
      {HloOpcode::kAllGatherStart, {HloOpcode::kAllGatherDone}, {}},
      {HloOpcode::kAllGatherDone, {}, {HloOpcode::kAllGatherStart}},
      {HloOpcode::kAllReduceStart, {HloOpcode::kAllReduceDone}, {}},
      {HloOpcode::kAllReduceDone, {}, {HloOpcode::kAllReduceStart}},
      {HloOpcode::kCopyStart, {HloOpcode::kCopyDone}, {}},
      {HloOpcode::kCopyDone, {}, {HloOpcode::kCopyStart}},
      {HloOpcode::kCollectivePermuteStart, {HloOpcode::kCollectivePermuteDone}, {}},
      {HloOpcode::kCollectivePermuteDone, {}, {HloOpcode::kCollectivePermuteStart}},
      // Through a tuple, the result may go around a loop, or out of an asynchronous computation.
      {HloOpcode::kSend, {HloOpcode::kSendDone, HloOpcode::kTuple}, {}},
      {HloOpcode::kSendDone, {}, {HloOpcode::kSend, HloOpcode::kGetTupleElement, HloOpcode::kAsyncDone}},
      {HloOpcode::kRecv, {HloOpcode::kRecvDone, HloOpcode::kTuple}, {}},
      {HloOpcode::kRecvDone, {}, {HloOpcode::kRecv, HloOpcode::kGetTupleElement, HloOpcode::kAsyncDone}},
  };
  return *pairings;
}

const AsyncPairing* FindAsyncPairing(HloOpcode opcode) {
  static const auto* const by_opcode = [] {
    auto* const map = new absl::flat_hash_map<HloOpcode, const AsyncPairing*>;
    for (const AsyncPairing& pairing : AsyncPairings()) (*map)[pairing.opcode] = &pairing;
    return map;
  }();
  const auto found = by_opcode->find(opcode);
  return found == by_opcode->end() ? nullptr : found->second;
}

}  // namespace kashi::hlo
