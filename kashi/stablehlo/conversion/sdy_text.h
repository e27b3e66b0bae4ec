// Shardy's attributes in the text that XLA keeps in frontend attributes (kashi/hlo/spmd/sdy_sharding.h reads it).
//
//   #sdy.mesh<["x"=2, "y"=2]>    #sdy.sharding<@mesh, [{"x"}, {}]>    #sdy<manual_axes{"x"}>
//   #sdy.op_sharding_rule<([i, j])->([j, i]) {i=2, j=4}>    (kashi/hlo/spmd/sdy_sharding_rule.h)
#ifndef KASHI_STABLEHLO_CONVERSION_SDY_TEXT_H_
#define KASHI_STABLEHLO_CONVERSION_SDY_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/stablehlo/program/program.h"

namespace kashi::stablehlo {

// Errors: INVALID_ARGUMENT for an attribute that is not such a record (operation_table.h).
absl::StatusOr<std::string> SdyMeshText(const Attribute& mesh);          // <["x"=2], device_ids=[1, 0]>
absl::StatusOr<std::string> SdyShardingText(const Attribute& sharding);  // <@mesh, [{"x"}, {}]>
absl::StatusOr<std::string> SdyShardingPerValueText(absl::Span<const Attribute* const> shardings);
absl::StatusOr<std::string> SdyShardingRuleText(const Attribute& rule);
absl::StatusOr<std::string> SdyManualAxesText(const Attribute& manual_axes);  // #sdy<manual_axes{"x", "y"}>

}  // namespace kashi::stablehlo

#endif  // KASHI_STABLEHLO_CONVERSION_SDY_TEXT_H_
