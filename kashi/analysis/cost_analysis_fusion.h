// What a fused computation reads of its parameters and writes, whoever calls it (docs/spec/hlo-ops.md, fusion).
//
// Of each parameter, and of each array in one that is a tuple, its users tell what is read:
//
//   slice, dynamic-slice     of what they cut: their result, each user for itself
//   dynamic-update-slice     of what they update in place: nothing
//   broadcast, reshape       all, each user for itself
//   fusion in the fusion     what that reads of its parameter; nothing if nobody uses it, also where it is the root, as
//                            XLA has it
//   all others               all, once for the lot of them
//
// Dead users count. The arrays of a tuple are followed through get-tuple-element, the first of each element; an array,
// or a tuple, that no get-tuple-element takes out is read as the table of pointers that it stands in, once for each
// array. Results are written whole, but of a dynamic-update-slice only the update.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

struct FusedCost {
  std::vector<double> reads;         // of each parameter, by number, all that is in it
  std::vector<double> direct_reads;  // the same without what get-tuple-elements pass on
  double table_bytes = 0;            // of constants; a single number is in the code
  double written_bytes = 0;
  std::shared_ptr<const PartCosts> parts;
  const HloInstruction* gather_or_scatter = nullptr;  // the first
};
using FusedCosts = absl::flat_hash_map<const HloComputation*, FusedCost>;

// All below the root of a result of which nothing special is known; nothing if it is no tuple.
void AddResultParts(const Shape& result, const ShapeIndex& at, const SizeFunction& size,
                    std::vector<PartCosts::Part>* parts);

// `nested` has what is fused within `fused`. O(instructions + operands + arrays in the parameters and the root).
FusedCost CostOfFused(const HloComputation& fused, const FusedCosts& nested, const SizeFunction& size);

}  // namespace kashi::internal

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_
