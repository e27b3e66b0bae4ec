// Constants whose values XLA left out of a dump, `constant({...})`: messages about them, and values for them.
#ifndef KASHI_CLI_ELIDED_CONSTANTS_H_
#define KASHI_CLI_ELIDED_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/json.h"
#include "kashi/matching/module_diff.h"

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::cli {

// Their names, in the order of the module.
std::vector<std::string> ElidedNames(const HloModule& module);

// "2 constants are elided, `{...}`: the file lacks their values (`constant.5`, `constant.7`); use the .pb of the dump,
// or dump again with --xla_dump_hlo_print_large_constants". Pre: `names` is not empty.
std::string ElidedText(const std::vector<std::string>& names);

// Prints a warning to standard error unless `names` is empty. `consequence` ends the sentence: "; random values replace
// them".
void WarnOfElided(const std::string& file, const std::vector<std::string>& names, const std::string& consequence);

// Sets the elided constants of two modules: to the value of the counterpart if that has one, otherwise to the same
// random value in both. A constant without a counterpart is paired with one of the same shape, in the order of the
// modules.
absl::Status FillElidedAlike(const matching::ModuleDiff& diff, HloModule* a, HloModule* b, uint64_t seed);

}  // namespace kashi::cli

#endif  // KASHI_CLI_ELIDED_CONSTANTS_H_
