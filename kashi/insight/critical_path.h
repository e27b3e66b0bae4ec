// The longest chain of instructions that wait for each other, by the roofline model: no machine that runs independent
// instructions at the same time can finish sooner, if each takes its time.
//
//   a -> dot (3 ms) -> add (1 ms)      the path of the computation: a, dot, add: 4 ms
//   b -> exp (2 ms) ----^
//
// Operands and control dependencies are waited for. An instruction of control flow takes as long as the path of what it
// calls: a loop all its iterations one after the other, a conditional its longest branch.
#ifndef KASHI_INSIGHT_CRITICAL_PATH_H_
#define KASHI_INSIGHT_CRITICAL_PATH_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/insight/counted_cost.h"
#include "kashi/insight/execution_counts.h"
#include "kashi/insight/roofline.h"

namespace kashi::insight {

class CriticalPath {
 public:
  // INVALID_ARGUMENT for modules with broken links or recursion. `cost` and `roofline` are those of the module, which
  // must outlive the result. O(instructions + operands).
  static absl::StatusOr<CriticalPath> Compute(const HloModule& module, const CountedCost& cost,
                                              const Roofline& roofline);

  double seconds() const { return seconds_; }  // of the entry
  // Of one run. Nothing for computations that control flow does not reach.
  double SecondsOf(const HloComputation* computation) const;
  // The path of a computation, operands first; empty for computations that control flow does not reach. Of several
  // paths that are equally long, one.
  absl::Span<const HloInstruction* const> PathOf(const HloComputation* computation) const;

 private:
  struct Path {
    double seconds = 0;
    std::vector<const HloInstruction*> instructions;
  };

  double OwnSeconds(const HloInstruction& instruction, const ExecutionCounts& counts, const Roofline& roofline) const;
  Path FindPath(const HloComputation& computation, const ExecutionCounts& counts, const Roofline& roofline) const;

  double seconds_ = 0;
  absl::flat_hash_map<const HloComputation*, Path> paths_;
};

}  // namespace kashi::insight

#endif  // KASHI_INSIGHT_CRITICAL_PATH_H_
