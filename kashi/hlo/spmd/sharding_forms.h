// A sharding in any of the forms that users meet it in:
//
//   {devices=[2,4]<=[8]}, {mesh['x'=2,'y'=4], [{'x'}, {'y'}]}      HLO (hlo_sharding_text.h); braces may be missing
//   #sdy.sharding<@mesh, [{"x"}, {"y"}]>, [{"x"}, {"y"}]           Shardy, over the axes of a given mesh
//   P('x', ('y', 'z'), None), PartitionSpec('x')                   JAX, over the same
//
// Dimensions that P does not mention are not cut.
#ifndef KASHI_HLO_SPMD_SHARDING_FORMS_H_
#define KASHI_HLO_SPMD_SHARDING_FORMS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/mesh.h"

namespace kashi::hlo {

// "x=2,y=4": the devices 0 .. 7 in row-major order. Also Shardy's `#sdy.mesh<["x"=2, "y"=4]>` and HLO's
// `mesh['x'=2,'y'=4]`, with their lists of devices. INVALID_ARGUMENT for other texts and for inconsistent meshes.
absl::StatusOr<Mesh> ParseMeshAxes(absl::string_view text);

// `rank`: dimensions of the array, for P. INVALID_ARGUMENT with the reason; for Shardy's and JAX's form also if there
// is no mesh.
absl::StatusOr<HloSharding> ParseShardingForm(absl::string_view text, const std::optional<Mesh>& mesh, int64_t rank);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_SHARDING_FORMS_H_
