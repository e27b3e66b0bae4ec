// Shardings of arguments, results and operations: HLO's own text (mhlo.sharding) and Shardy's records.
#ifndef KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_
#define KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/spmd/sdy_sharding.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Adds the frontend attributes in a dictionary of strings. Ignores any other attribute.
void AddFrontendAttributes(const Attribute* dictionary, HloInstruction* instruction);

// A #sdy.sharding as tiles of devices. INVALID_ARGUMENT if it names a mesh that is not among the meshes.
absl::StatusOr<HloSharding> HloShardingOfSdy(const hlo::SdyMeshes& meshes, const Attribute& sharding);

// The sharding in a list of attributes, `mhlo.sharding` or `sdy.sharding` (of one value); nullopt if there is none. The
// first may be HLO's text, a serialised OpSharding, or empty, which means {replicated}.
absl::StatusOr<std::optional<HloSharding>> ShardingIn(const hlo::SdyMeshes& meshes,
                                                      absl::Span<const NamedAttribute> attributes);

const Attribute* FindNamed(absl::Span<const NamedAttribute> attributes, absl::string_view name);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_
