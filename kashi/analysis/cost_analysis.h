// What a program costs, in the manner in which XLA's cost analysis counts (docs/spec/xla-api.md 29.3).
//
//   flops             arithmetic on elements: one each; a product and a sum, as in dot, two. Integers count, too.
//   transcendentals   exp, log, tanh, pow, … : one for each element, and then no flop
//   bytes_accessed    operands read and results written, once each, as if there were no cache; padding does not
//                     count. What only looks at a part of an operand (slice, gather, update) counts that part twice:
//                     read and written. An operand that is a tuple counts as its table, a result with all its arrays.
//
// Control flow: one turn of a loop's body and one of its condition; of a conditional's branches the most of each. A
// fusion reads its operands and writes its results, and nothing in between. What a custom call costs nobody knows: here
// 0, and it is counted as unknown; XLA takes -1 off its sums for each.
#ifndef KASHI_ANALYSIS_COST_ANALYSIS_H_
#define KASHI_ANALYSIS_COST_ANALYSIS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/hlo_computation.h"
#include "kashi/hlo/hlo_instruction.h"
#include "kashi/hlo/hlo_module.h"

namespace kashi {

// Doubles, as counts of whole programs go beyond 2^63; exact up to 2^53.
struct Cost {
  double flops = 0;
  double transcendentals = 0;
  double bytes_accessed = 0;
  double unknown = 0;  // custom calls that nobody knows the cost of

  Cost& operator+=(const Cost& other);
  friend Cost operator+(Cost a, const Cost& b) { return a += b; }
  friend Cost operator*(Cost a, double times);
};

class CostAnalysis {
 public:
  // INVALID_ARGUMENT for modules that do not hang together (call_graph.h). O(instructions + operands).
  static absl::StatusOr<CostAnalysis> Run(const HloModule& module);

  // Of the entry, which counts what it calls.
  const Cost& total() const { return total_; }
  // Of one instruction, what it calls included; of a fused one as if it stood alone, though the total does not count
  // its bytes. Dies for an instruction of another module.
  const Cost& CostOf(const HloInstruction* instruction) const { return costs_.at(instruction); }
  // The sum over its instructions.
  const Cost& CostOf(const HloComputation* computation) const { return computation_costs_.at(computation); }

 private:
  Cost total_;
  absl::flat_hash_map<const HloInstruction*, Cost> costs_;
  absl::flat_hash_map<const HloComputation*, Cost> computation_costs_;
};

// Flops of a product of matrices and of a convolution, whose padding and holes are not multiplied.
double DotFlops(const HloInstruction& dot);
double ConvolutionFlops(const HloInstruction& convolution);

}  // namespace kashi

#endif  // KASHI_ANALYSIS_COST_ANALYSIS_H_
