// Whether a module keeps HLO's rules: what `kashi verify` tells, and what other verbs ask before they use a module.
#ifndef KASHI_CLI_MODULE_CHECK_H_
#define KASHI_CLI_MODULE_CHECK_H_

#include <string>

#include "cli/module_file.h"
#include "kashi/hlo/hlo_verifier.h"

namespace kashi::cli {

// What modules that XLA itself wrote comply with.
HloVerifierOpts VerifierOptionsFor(const HloModule& module);

// A line, and below it the instruction or the computation.
std::string FindingText(const std::string& file, const HloFinding& finding);

// For who is about to run the module: operands may mix precisions, layouts do not matter. Findings go to standard error;
// false if there are any.
bool CheckModule(const ModuleFile& file);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_CHECK_H_
