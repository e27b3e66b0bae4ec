// Whether a module is the program of one device, or global: not partitioned yet (kashi/hlo/spmd/program_scope.h).
#ifndef KASHI_CLI_SCOPE_NOTE_H_
#define KASHI_CLI_SCOPE_NOTE_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::cli {

// The scope by --as: "global" or "per-device"; "auto" decides by the module. INVALID_ARGUMENT for `global` if the
// number of devices is unknown.
absl::StatusOr<ProgramScope> ChooseScope(const HloModule& module, const std::string& as);

// "not partitioned yet: one global program over 4 devices (p has a sharding)"
std::string ScopeText(const ProgramScope& scope);
// {"scope": "global", "partitions": 4, "reason": …}; null for programs of one device.
Json ScopeJson(const ProgramScope& scope);

// A note that numbers are for a global program: "Global, not per device: …"; "" for other modules. Without a newline.
std::string GlobalNote(const HloModule& module);

}  // namespace kashi::cli

#endif  // KASHI_CLI_SCOPE_NOTE_H_
