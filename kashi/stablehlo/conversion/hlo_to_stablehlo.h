// HLO to StableHLO text: the inverse of stablehlo_to_hlo.h.
//
//   absl::StatusOr<std::string> text = ConvertToStableHlo(*module);   // "builtin.module"() <{…}> ({ …
//
// The text is MLIR's generic form, which every reader of MLIR with the dialects func, stablehlo and chlo accepts.
// Tuples are taken apart: a loop over a tuple has an operand for each of its arrays. Computations become regions, or
// functions where they are called, shared or nested deeply. The text has no layouts but those of the entry's parameters
// and of custom calls, and no control dependencies: StableHLO has neither.
//
// Modules that a compiler has optimised are taken too: a fusion becomes the operations in it, a bitcast the reshape and
// the transposes that its layouts mean, and the halves of an asynchronous operation the operation.
#ifndef KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
#define KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::stablehlo {

// An instruction that StableHLO has no form for, and why: UNIMPLEMENTED, or INVALID_ARGUMENT if something is missing.
struct StableHloProblem {
  const HloInstruction* instruction;
  absl::Status status;
};

struct StableHloTextOptions {
  // loc("jit(f)/add"("f.py":3:4)) from the metadata of instructions.
  bool has_locations = true;
  // If not null: gets all problems, in the order of the text.
  std::vector<StableHloProblem>* problems = nullptr;
  // If not null: gets a sentence about each thing that the text leaves out although it could matter.
  std::vector<std::string>* notes = nullptr;
};

// UNIMPLEMENTED, naming the instructions: StableHLO has no form for them. INVALID_ARGUMENT: a constant whose elements a
// printer left out. Pre: the module is valid (hlo_verifier.h). Cost: linear in the size of the module.
absl::StatusOr<std::string> ConvertToStableHlo(const HloModule& module, const StableHloTextOptions& options = {});

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
