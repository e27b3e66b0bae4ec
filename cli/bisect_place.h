// Where two forms of a program begin to differ: the instruction, and the smallest parts that show it.
#ifndef KASHI_CLI_BISECT_PLACE_H_
#define KASHI_CLI_BISECT_PLACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/bisect_region.h"
#include "cli/bisect_values.h"
#include "cli/run_inputs.h"
#include "cli/run_outputs.h"
#include "cli/value_summary.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/literal/literal.h"

namespace kashi::cli {

// An instruction in the flat form of a module, with its value.
struct PlacedInstruction {
  const HloInstruction* instruction;
  ValueSummary summary;
};

struct DifferencePlace {
  // The forms that were compared, without fusions (flat_module.h); they hold the instructions.
  std::unique_ptr<HloModule> flat_a;
  std::unique_ptr<HloModule> flat_b;
  PlacedInstruction a;
  PlacedInstruction b;
  int64_t occurrence = 0;  // which of their values, from 0
  // If the instruction of B had A's values, all outputs would agree; or at least one that differs.
  bool explains_all = false;
  bool explains_some = false;
  DifferingParts parts;
};

// `expected`: the outputs of A. nullopt: nothing was found, for example because the evaluator, which is used here, sees
// no difference.
absl::StatusOr<std::optional<DifferencePlace>> FindPlace(const ProgramForm& a, const ProgramForm& b,
                                                         const std::vector<Literal>& expected,
                                                         const Tolerance& tolerance,
                                                         const EvaluationOptions& evaluation);

}  // namespace kashi::cli

#endif  // KASHI_CLI_BISECT_PLACE_H_
