#include "cli/scope_note.h"

#include "absl/strings/str_cat.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#include "kashi/hlo/spmd/sdy_sharding.h"

namespace kashi::cli {

absl::StatusOr<ProgramScope> ChooseScope(const HloModule& module, const std::string& as) {
  ProgramScope scope = ProgramScopeOf(module);
  if (scope.is_global() || as == "global") KASHI_RETURN_IF_ERROR(hlo::CheckSdyShardings(module));
  if (as == "auto") return scope;
  scope.kind = as == "global" ? ProgramScope::Kind::kGlobal : ProgramScope::Kind::kPerDevice;
  scope.reason = absl::StrCat("--as ", as);
  if (scope.is_global() && scope.partitions == 1) {
    return InvalidArgument("--as global: neither the module header nor a sharding gives the number of devices");
  }
  return scope;
}

std::string ScopeText(const ProgramScope& scope) {
  return absl::StrCat("not partitioned yet: one global program over ", Count(scope.partitions, "device"), " (",
                      scope.reason, ")");
}

Json ScopeJson(const ProgramScope& scope) {
  if (scope.kind == ProgramScope::Kind::kOneDevice) return nullptr;
  return {{"scope", scope.is_global() ? "global" : "per device"},
          {"partitions", scope.partitions},
          {"reason", scope.reason}};
}

std::string GlobalNote(const HloModule& module) {
  const ProgramScope scope = ProgramScopeOf(module);
  if (!scope.is_global()) return "";
  return absl::StrCat("Global, not per device: the module is ", ScopeText(scope), ".");
}

}  // namespace kashi::cli
