// What the verbs do about constants whose values XLA left out of a dump: `constant({...})`.
#ifndef KASHI_CLI_ELIDED_CONSTANTS_H_
#define KASHI_CLI_ELIDED_CONSTANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cli/json.h"
#include "cli/module_diff.h"

namespace kashi {
class HloModule;
}  // namespace kashi

namespace kashi::internal {
}  // namespace kashi::internal

namespace kashi::internal::cli {

// Their names, in the order of the module.
std::vector<std::string> ElidedNames(const HloModule& module);

// "2 constants are elided, `{...}`: their values are not in the file (`constant.5`, `constant.7`); use the .pb of the
// dump, or dump again with --xla_dump_hlo_print_large_constants". Pre: there are some.
std::string ElidedText(const std::vector<std::string>& names);

// A warning on standard error if there are any. `consequence` ends the sentence: "; random values stand in for them".
void WarnOfElided(const std::string& file, const std::vector<std::string>& names, const std::string& consequence);

// Gives the elided constants of two modules values: those of the counterpart where that has them, and otherwise made-up ones
// that are the same in both. One without a counterpart is paired with one of the same shape, in the order of the modules.
absl::Status FillElidedAlike(const ModuleDiff& diff, HloModule* a, HloModule* b, uint64_t seed);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_ELIDED_CONSTANTS_H_
