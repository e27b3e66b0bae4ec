// Whether a module keeps HLO's rules: what `kashi verify` tells, and what other verbs ask before they use a module.
#ifndef KASHI_CLI_MODULE_CHECK_H_
#define KASHI_CLI_MODULE_CHECK_H_

#include <string>

#include "cli/json.h"
#include "cli/module_file.h"
#include "kashi/hlo/hlo_verifier.h"

namespace kashi::cli {

// What modules that XLA itself wrote comply with.
HloVerifierOpts VerifierOptionsFor(const HloModule& module);

// A line, and below it the instruction or the computation.
std::string FindingText(const std::string& file, const HloFinding& finding);

// {"rule", "instruction", "computation", "message"}; null where a finding is about no instruction or computation.
Json FindingJson(const HloFinding& finding);

// For whoever is about to run the module: operands may mix precisions, layouts do not matter. False if there are findings,
// which go to standard error, or, with --json, to `answers` as {"file", "error": the first, "findings"}.
bool CheckModule(const ModuleFile& file, Answers* answers);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_CHECK_H_
