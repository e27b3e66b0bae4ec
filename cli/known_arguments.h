// Facts from the command line about arguments of a program whose types leave sizes open (StableHLO of jax.export with
// symbolic sizes): `--argument 0=[8,3]`, or the arrays of --input.
#ifndef KASHI_CLI_KNOWN_ARGUMENTS_H_
#define KASHI_CLI_KNOWN_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"

namespace kashi::cli {

class Verb;

// Adds --argument, which may be repeated. FindKnownArgument reads its values.
void AddArgumentOption(Verb* verb);

// The facts of --argument about an argument; otherwise the sizes of input `number`, and its value if it is an integer.
// Nothing if there is no such input. Errors: a file that cannot be read.
absl::StatusOr<stablehlo::KnownArgument> FindKnownArgument(int64_t number, const std::vector<std::string>& inputs);

}  // namespace kashi::cli

#endif  // KASHI_CLI_KNOWN_ARGUMENTS_H_
