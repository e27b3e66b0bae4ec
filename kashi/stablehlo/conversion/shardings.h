// Shardings of arguments, results and operations: HLO's own text (mhlo.sharding) and Shardy's records.
#ifndef KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_
#define KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// The frontend attributes in a dictionary of strings, which is dropped where it is something else.
void AddFrontendAttributes(const Attribute* dictionary, HloInstruction* instruction);

// A #sdy.sharding as tiles of devices. The meshes are those of the module's frontend attribute `xla.sdy.meshes`.
absl::StatusOr<HloSharding> HloShardingOfSdy(const HloModule& module, const Attribute& sharding);

// The sharding that a list of attributes has as `mhlo.sharding` or `sdy.sharding` (of one value); nullopt if none.
absl::StatusOr<std::optional<HloSharding>> ShardingIn(const HloModule& module,
                                                      absl::Span<const NamedAttribute> attributes);

const Attribute* FindNamed(absl::Span<const NamedAttribute> attributes, absl::string_view name);

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_SHARDINGS_H_
