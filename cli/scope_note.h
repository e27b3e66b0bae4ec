// Says of a module whether it is one device's program or a whole one that is not partitioned yet (kashi/hlo/spmd/program_scope.h).
#ifndef KASHI_CLI_SCOPE_NOTE_H_
#define KASHI_CLI_SCOPE_NOTE_H_

#include <string>

#include "absl/status/statusor.h"
#include "cli/json.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/spmd/program_scope.h"

namespace kashi::internal::cli {

// --as: "global" or "per-device" instead of what the module seems to be; "auto" leaves it. INVALID_ARGUMENT for `global` where
// nothing says over how many devices.
absl::StatusOr<ProgramScope> ChooseScope(const HloModule& module, const std::string& as);

// "not partitioned yet: one global program over 4 devices (p has a sharding)"
std::string ScopeText(const ProgramScope& scope);
// {"scope": "global", "partitions": 4, "reason": …}; null for programs of one device.
Json ScopeJson(const ProgramScope& scope);

// What numbers about a module are of, if it is not partitioned yet: "Global, not per device: …"; else "". Without a newline.
std::string GlobalNote(const HloModule& module);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_SCOPE_NOTE_H_
