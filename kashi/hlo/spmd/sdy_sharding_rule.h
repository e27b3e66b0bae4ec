// The rule of Shardy by which shardings spread through a custom call, in MLIR's text:
//
//   xla.sdy.sharding_rule   #sdy.op_sharding_rule<([i, j], [j, k])->([i, k]) {i=8, j=16, k=32} reduction={j}, custom>
//
// Dimensions with a factor in common are cut alike. A dimension may have several factors, the major one first:
// `([ij])->([i, j]) {i=2, j=4}` splits one of 8. Factors are named i to z, then z_1, z_2, …, in this order.
#ifndef KASHI_HLO_SPMD_SDY_SHARDING_RULE_H_
#define KASHI_HLO_SPMD_SDY_SHARDING_RULE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::hlo {

struct SdyShardingRule {
  using Dimension = std::vector<int>;      // factors, the major one first
  using Mapping = std::vector<Dimension>;  // [dimension] of an array

  std::vector<int64_t> factor_sizes;
  std::vector<Mapping> operands, results;
  // Factors of a kind. `blocked_propagation`: shardings do not spread along them. The others say how an operation must
  // be computed, which the partitioner of the call decides.
  std::vector<int> reduction, need_replication, permutation, blocked_propagation;
};

// INVALID_ARGUMENT, with the place in the text; also for a factor without a size. Cost: one pass.
absl::StatusOr<SdyShardingRule> ParseSdyShardingRule(absl::string_view text);

// The rule of an instruction; nullopt if it has none. INVALID_ARGUMENT, with the instruction's name, if it cannot be
// read, or if it is for other shapes than those of the operands and of the leaves of the result.
absl::StatusOr<std::optional<SdyShardingRule>> SdyShardingRuleOf(const HloInstruction& instruction);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_SPMD_SDY_SHARDING_RULE_H_
