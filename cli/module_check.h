// The verifier for the verbs: `kashi verify` prints its findings, and other verbs check modules before they use them.
#ifndef KASHI_CLI_MODULE_CHECK_H_
#define KASHI_CLI_MODULE_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cli/json.h"
#include "cli/module_file.h"
#include "kashi/hlo/verifier/hlo_verifier.h"

namespace kashi::cli {

// The rules that modules written by XLA obey.
HloVerifierOpts VerifierOptionsFor(const HloModule& module);

// The finding with its place in the text, the source line and a caret; for a module without text, with the instruction
// or the name of the computation.
std::string FindingText(const ModuleFile& file, const HloFinding& finding);

// Adds an error about the module, with the place of its instruction, if there is one. Without a text,
// the message names the instruction and the computation.
void AddModuleError(const ModuleFile& file, const absl::Status& status, Answers* answers);

// {"rule", "instruction", "line", "column", "computation", "message"}; null for what the finding or the module does not
// have.
Json FindingJson(const HloFinding& finding);

// Adds findings, of which there is at least one, as an error about the file: to standard error the first 50, or, with
// --json, {"file", "error": the first finding, "findings"} to `answers`.
void AddFindings(const ModuleFile& file, absl::Span<const HloFinding> findings, Answers* answers);

// For verbs that need a valid module: operands may mix precisions, and layouts are ignored. Returns false if there are
// findings, and adds them.
bool CheckModule(const ModuleFile& file, Answers* answers);
bool CheckModule(const ModuleFile& file, Answers* answers, HloVerifierOpts opts);

// For verbs that also take other modules: prints the first finding as a warning, because figures may mean nothing.
void WarnIfInvalid(const ModuleFile& file);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_CHECK_H_
