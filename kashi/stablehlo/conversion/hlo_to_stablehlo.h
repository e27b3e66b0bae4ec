// HLO to StableHLO text: the inverse of stablehlo_to_hlo.h.
//
//   absl::StatusOr<std::string> text = ConvertToStableHlo(*module);   // "builtin.module"() <{…}> ({ …
//
// The text is MLIR's generic form, which every reader of MLIR with the dialects func, stablehlo and chlo accepts.
// Tuples are taken apart: a loop over a tuple has an operand for each of its arrays. Computations become regions, or
// functions where they are called, shared or nested deeply. The text has layouts only for the entry's parameters
// and for custom calls, and no control dependencies: StableHLO has neither.
//
// Optimised modules are accepted too: a fusion becomes its operations, a bitcast becomes the reshape and
// the transposes that its layouts mean, and the halves of an asynchronous operation become the operation.
#ifndef KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
#define KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::stablehlo {

// An instruction without a form in StableHLO, and why: UNIMPLEMENTED, or INVALID_ARGUMENT if something is missing.
struct StableHloProblem {
  const HloInstruction* instruction;
  absl::Status status;
};

struct StableHloTextOptions {
  // loc("jit(f)/add"("f.py":3:4)) from the metadata of instructions.
  bool has_locations = true;
  // If not null: receives all problems, in the order of the text.
  std::vector<StableHloProblem>* problems = nullptr;
  // If not null: receives a sentence about each omission from the text that could matter.
  std::vector<std::string>* notes = nullptr;
};

// UNIMPLEMENTED, naming the instructions, if StableHLO has no form for them. INVALID_ARGUMENT for a constant whose
// elements a printer omitted. Pre: the module is valid (hlo_verifier.h). Cost: linear in the size of the module.
absl::StatusOr<std::string> ConvertToStableHlo(const HloModule& module, const StableHloTextOptions& options = {});

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
