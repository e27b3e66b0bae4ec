// Which results of an instruction must lie where an operand lies, because the operation changes it in place.
//
//   dynamic-update-slice, scatter, set-dimension-size     result in operand 0 (scatter: each result in its operand)
//   ragged-all-to-all                                     result in operand 1
//   all-reduce-start, collective-permute-start            results in operands, see in_place.cc
//   fusion, custom-call, call, async-start                as output_to_operand_aliasing says
//   fusion                                                also where its root, or an element of its root tuple, is one
//                                                         of these, changing a parameter of the fusion
//
// Each result has one operand at most; of what a file says besides, the first is taken.
//
// A compiler that has scheduled a module has put copies where the operand is needed afterwards; in a module without a
// schedule these are only wishes.
#ifndef KASHI_ANALYSIS_IN_PLACE_H_
#define KASHI_ANALYSIS_IN_PLACE_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/array/shape_index.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

struct InPlacePair {
  int64_t operand_number = 0;
  ShapeIndex operand_index;
  ShapeIndex output_index;
};

class InPlacePairs {
 public:
  // O(n log n), n = instructions + results of fusions.
  explicit InPlacePairs(const CallGraph& graph);

  // By output_index, each once.
  std::vector<InPlacePair> Of(const HloInstruction& instruction) const;

 private:
  void AddFusedPairs(const HloComputation& fused);

  // By fused computation: the same with the parameter's number for the operand's.
  absl::flat_hash_map<const HloComputation*, std::vector<InPlacePair>> fused_pairs_;
};

// In which operand's place the TPU compiler may have put a result, by its backend config (tpu_backend_config.h): those
// above, and also such as nobody needs any more. It lists operands that live on, too; in the buffer assignments those have
// places of their own. Not for tuples as operands: how they are numbered is not known. In the order of the lists.
std::vector<InPlacePair> DecidedPairs(const HloInstruction& instruction);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_IN_PLACE_H_
