// The cost of a module with its loops multiplied: for each instruction the cost of all its runs.
//
//   total = sum over instructions() of CostOf(instruction)         exactly, if no number exceeds 2^53
//   CostOf(instruction) = OwnCostOf(instruction) * how often it runs
//
// The own cost is what XLA counts for one run (kashi/analysis/cost_analysis.h), except that loops within computations
// on elements are multiplied, and that the work that is needed counts (CostRules::counts_needed_work): a cumulative
// reduce-window adds each element once, a scan has all its iterations, a ragged-dot all its rows.
// Control flow itself costs nothing: the instructions of the called computations do.
//
// Of a conditional, each number is that of the branch in which it is largest, as in XLA: the dearest branch by flops
// gives the flops, the one by bytes the bytes. The other branches cost 0 in that number. So the total is an upper
// bound, and a module without any of these has XLA's total.
#ifndef KASHI_INSIGHT_COUNTED_COST_H_
#define KASHI_INSIGHT_COUNTED_COST_H_

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/analysis/call_graph.h"
#include "kashi/analysis/cost_analysis.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/execution_counts.h"

namespace kashi::insight {

struct CountedCostOptions {
  // XLA's own flat count: a loop is one iteration of its body and its condition, and a cumulative window adds up each
  // window by itself.
  bool as_xla = false;
};

class CountedCost {
 public:
  // INVALID_ARGUMENT for modules with broken links or recursion. The module must outlive the result and must not
  // change. O(instructions + operands), and the time to find trip counts.
  static absl::StatusOr<CountedCost> Compute(const HloModule& module, const CountedCostOptions& options = {});

  const Cost& total() const { return total_; }
  // XLA's flat count of the whole module.
  const Cost& xla_total() const { return xla_.total(); }

  // Instructions that run by themselves: of the entry and of the computations that it reaches by control flow, without
  // the control flow itself. Callees first; within a computation in its order.
  absl::Span<const HloInstruction* const> instructions() const { return instructions_; }
  // The cost of all runs; nothing for instructions that are not in instructions(), such as those in fusions. Dies for
  // an instruction of another module, as the next ones.
  Cost CostOf(const HloInstruction* instruction) const;
  // The cost of one run; of a fused instruction that of an unfused one; nothing for control flow.
  Cost OwnCostOf(const HloInstruction* instruction) const;
  // How much of one run's cost counts, by number: the runs in the dearest branches only. For measures of the caller's
  // own, such as seconds.
  struct Weights {
    double flops = 0;
    double transcendentals = 0;
    double bytes_accessed = 0;
    double unknown = 0;
  };
  // Nothing for computations that control flow does not reach.
  Weights WeightsOf(const HloComputation* computation) const;

  // CountedCostOptions::as_xla.
  bool is_flat() const { return is_flat_; }
  const ExecutionCounts& counts() const { return counts_; }
  // By XLA's rules, with details: bytes of operands and results.
  const CostAnalysis& xla() const { return xla_; }
  // By the rules of this count: of one run, with called computations.
  const CostAnalysis& own() const { return counted_ != nullptr ? *counted_ : xla_; }

 private:
  void AddInstructions(const CallGraph& graph);

  bool is_flat_ = false;
  ExecutionCounts counts_;
  CostAnalysis xla_;
  std::shared_ptr<const CostAnalysis> counted_;  // null: XLA's
  Cost total_;
  std::vector<const HloInstruction*> instructions_;
  absl::flat_hash_map<const HloComputation*, Weights> weights_;
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_COUNTED_COST_H_
