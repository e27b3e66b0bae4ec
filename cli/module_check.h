// Whether a module keeps HLO's rules: what `kashi verify` tells, and what other verbs ask before they use a module.
#ifndef KASHI_CLI_MODULE_CHECK_H_
#define KASHI_CLI_MODULE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::internal::cli {

// What modules that XLA itself wrote comply with.
HloVerifierOpts VerifierOptionsFor(const HloModule& module);

// Under its place in the text, source line and caret; of a module without text the instruction or the computation below it.
std::string FindingText(const ModuleFile& file, const HloFinding& finding);

// An error of something that was done with the module: under the place of the instruction that it is about, if it has one.
// Without a text, the message names the instruction and the computation.
void AddModuleError(const ModuleFile& file, const absl::Status& status, Answers* answers);

// {"rule", "instruction", "line", "column", "computation", "message"}; null where a finding is about no instruction or
// computation, or the module has no text.
Json FindingJson(const HloFinding& finding);

// For verbs that are about to run the module: operands may mix precisions, layouts do not matter. False if there are findings,
// which go to standard error, or, with --json, to `answers` as {"file", "error": the first, "findings"}.
bool CheckModule(const ModuleFile& file, Answers* answers);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_MODULE_CHECK_H_
