// Shardings as Shardy writes them into frontend attributes, in MLIR's text:
//
//   xla.sdy.meshes         {mesh = #sdy.mesh<["a"=2, "b"=4]>, one = #sdy.mesh<[], device_ids=[3]>}      of the module
//   xla.sdy.sharding       #sdy.sharding<@mesh, [{"a"}, {"b", ?}p1], replicated={"c"}, unreduced={"d"}>
//   xla.sdy.in_shardings   #sdy.sharding_per_value<[<@mesh, [{"a":(1)2}, {}]>, <@mesh, []>]>
//   xla.sdy.manual_axes    #sdy<manual_axes{"a", "b"}>
//
// They have the meaning of named shardings (mesh.h). Priorities (p1) are read and dropped. Errors are INVALID_ARGUMENT,
// with the place in the text. Cost: one pass.
#ifndef KASHI_HLO_SPMD_SDY_SHARDING_H_
#define KASHI_HLO_SPMD_SDY_SHARDING_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/mesh.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::hlo {

using SdyMeshes = std::map<std::string, Mesh>;

absl::StatusOr<SdyMeshes> ParseSdyMeshes(absl::string_view text);
// The meshes in the module's attribute; empty without one.
absl::StatusOr<SdyMeshes> SdyMeshesOf(const HloModule& module);

// Reads a sharding, or one sharding for each value: either of the two forms.
absl::StatusOr<std::vector<NamedSharding>> ParseSdyShardings(absl::string_view text, const SdyMeshes& meshes);

// OK if all shardings in attributes of the module's instructions can be read. INVALID_ARGUMENT, at the
// instruction, for a sharding whose mesh the module does not have. Cost: linear in the text of the attributes.
absl::Status CheckSdyShardings(const HloModule& module);

// The names of the axes.
absl::StatusOr<std::vector<std::string>> ParseSdyManualAxes(absl::string_view text);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_SDY_SHARDING_H_
