// The bytes that a fused computation reads from its parameters and writes (docs/spec/hlo-ops.md, fusion).
//
// The users of a parameter, or of an array in a tuple parameter, decide how much of it is read:
//
//   slice, dynamic-slice     the size of their result, per user
//   dynamic-update-slice     nothing of the array that they update in place
//   broadcast, reshape       all, per user
//   fusion in the fusion     the bytes that it reads from its parameter;
//                            nothing if the parameter has no user,
//                            also if it is the root, as in XLA
//   all others               all, once for all of these users
//
// Dead users count. The arrays of a tuple are found through get-tuple-element, the first one of each element. An array
// or tuple without a get-tuple-element counts as the table of pointers that contains it, once per array. Results are
// written as a whole, but a dynamic-update-slice only writes its update.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::analysis {

struct FusedCost {
  std::vector<double> reads;         // of each parameter, by number, with everything in it
  std::vector<double> direct_reads;  // these reads without the part that get-tuple-elements pass on
  double table_bytes = 0;            // of constants; a single number is in the code
  double written_bytes = 0;
  std::shared_ptr<const PartCosts> parts;
  const HloInstruction* gather_or_scatter = nullptr;  // the first
};
using FusedCosts = absl::flat_hash_map<const HloComputation*, FusedCost>;

// All nodes below the root of a result without special rules; nothing if it is not a tuple.
void AddResultParts(const Shape& result, const ShapeIndex& at, const SizeFunction& size,
                    std::vector<PartCosts::Part>* parts);

// `nested` has the computations that are fused within `fused`. O(instructions + operands + arrays in the parameters and
// the root).
FusedCost CostOfFused(const HloComputation& fused, const FusedCosts& nested, const SizeFunction& size);

}  // namespace kashi::analysis

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_FUSION_H_
