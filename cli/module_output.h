// A module as a file that a verb writes.
#ifndef KASHI_CLI_MODULE_OUTPUT_H_
#define KASHI_CLI_MODULE_OUTPUT_H_

#include <string>

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// The module in the form that the ending of the path says: .pb, .pbtxt, .json; HLO text with all constants otherwise.
absl::StatusOr<std::string> ModuleForPath(const HloModule& module, const std::string& path);

}  // namespace kashi::cli

#endif  // KASHI_CLI_MODULE_OUTPUT_H_
