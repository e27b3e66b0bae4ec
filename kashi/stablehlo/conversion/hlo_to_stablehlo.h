// HLO to StableHLO text: the inverse of stablehlo_to_hlo.h.
//
//   absl::StatusOr<std::string> text = ConvertToStableHlo(*module);   // "builtin.module"() <{…}> ({ …
//
// The text is MLIR's generic form, which every reader of MLIR with the dialects func, stablehlo and chlo accepts.
// Tuples are taken apart: a loop over a tuple has an operand for each of its arrays. Computations become regions, or
// functions where they are called, shared or nested deeply. The text has no layouts but those of the entry's parameters
// and of custom calls, and no control dependencies: StableHLO has neither.
#ifndef KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
#define KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_

#include <string>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::stablehlo {

struct StableHloTextOptions {
  // loc("jit(f)/add"("f.py":3:4)) from the metadata of instructions.
  bool has_locations = true;
};

// UNIMPLEMENTED, naming the instruction: StableHLO has no form for it. INVALID_ARGUMENT: a constant whose elements a
// printer left out. Pre: the module is valid (hlo_verifier.h). Cost: linear in the size of the text.
absl::StatusOr<std::string> ConvertToStableHlo(const HloModule& module, const StableHloTextOptions& options = {});

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_HLO_TO_STABLEHLO_H_
