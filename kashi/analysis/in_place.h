// The results of an instruction that must use the buffer of an operand, because the operation updates it in place.
//
//   dynamic-update-slice, scatter, set-dimension-size     result in operand 0 (scatter: each result in its operand)
//   ragged-all-to-all                                     result in operand 1
//   all-reduce-start, collective-permute-start            results in operands, see in_place.cc
//   fusion, custom-call, call, async-start                by output_to_operand_aliasing
//   fusion                                                also if its root, or an element of its root tuple, is one of
//                                                         these and updates a parameter of the fusion
//
// A result has at most one operand. If a file names several, the first one counts.
//
// In a scheduled module the compiler has inserted copies of operands that are needed later. In a module without a
// schedule, an in-place update may need such a copy.
#ifndef KASHI_ANALYSIS_IN_PLACE_H_
#define KASHI_ANALYSIS_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

struct InPlacePair {
  int64_t operand_number = 0;
  ShapeIndex operand_index;
  ShapeIndex output_index;
};

class InPlacePairs {
 public:
  // O(n log n), n = instructions + results of fusions.
  explicit InPlacePairs(const CallGraph& graph);

  // The pairs of an instruction, sorted by output_index, each index once.
  std::vector<InPlacePair> Of(const HloInstruction& instruction) const;

 private:
  void AddFusedPairs(const HloComputation& fused);

  // The pairs of each fused computation, with the parameter's number for the operand's.
  absl::flat_hash_map<const HloComputation*, std::vector<InPlacePair>> fused_pairs_;
};

// The operands whose place the TPU compiler may have given to a result, from its backend config (tpu_backend_config.h):
// those above, and also operands after their last use. The config also lists operands that are used later; in buffer
// assignments these have their own places. Not for tuple operands, whose numbering is not known. In the order of the
// lists.
std::vector<InPlacePair> DecidedPairs(const HloInstruction& instruction);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_IN_PLACE_H_
