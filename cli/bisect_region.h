// The smallest parts of two forms of a program that show a difference, as programs of their own.
#ifndef KASHI_CLI_BISECT_REGION_H_
#define KASHI_CLI_BISECT_REGION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "cli/bisect_values.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// The instructions of a computation that lead to `end`, without those that are known and what leads to them.
//
//   a -> b -> c -> end        known: a        region: b, c, end
//
// Parameters count as known. Operands come before users. O(instructions of the region and their operands).
std::vector<const HloInstruction*> RegionBefore(const HloInstruction* end,
                                                absl::FunctionRef<bool(const HloInstruction*)> is_known);

// The parts of both forms between values that agree and values that differ. They have equal parameters.
struct DifferingParts {
  std::unique_ptr<HloModule> a;
  std::unique_ptr<HloModule> b;
  Arguments inputs;            // the values in A of what agrees; of what B alone has, in B
  int64_t instructions_a = 0;  // without parameters
  int64_t instructions_b = 0;
  bool is_cut = false;          // A's part begins at values that B does not have, because it would be long
  OutputComparison comparison;  // of their results on these inputs
};

// `counterparts`: of B's instructions in A. `agrees`: whether the value of one of them is known to be that of its
// counterpart. FAILED_PRECONDITION if the parts cannot be cut out, or agree on the values at the border.
absl::StatusOr<DifferingParts> CutOut(const ProgramForm& a, const ProgramForm& b, const DifferingPair& pair,
                                      const Counterparts& counterparts,
                                      absl::FunctionRef<bool(const HloInstruction* b)> agrees,
                                      const Tolerance& tolerance, const EvaluationOptions& evaluation);

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_REGION_H_
