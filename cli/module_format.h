// The forms in which a verb writes the module that it made: --to text, pb, pbtxt, json or mlir.
#ifndef KASHI_CLI_MODULE_FORMAT_H_
#define KASHI_CLI_MODULE_FORMAT_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// --to.
void AddModuleFormatOption(Verb* verb, std::string* to);

// The format that --to says, or else the ending of the output's name; "text" for other names.
std::string ModuleFormatOf(const std::string& to, const std::string& output);

// The module in the format; protos are HloModuleProto. Text has all elements of constants with `large_constants`.
// INVALID_ARGUMENT for strings that a proto cannot have, UNIMPLEMENTED for what StableHLO has no form for.
absl::StatusOr<std::string> FormatModule(const HloModule& module, const std::string& format, bool large_constants);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_FORMAT_H_
