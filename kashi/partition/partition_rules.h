// The functions behind PartitionRuleOf, by topic. Pre: operands and results are static arrays that the verifier
// accepts.
#ifndef KASHI_PARTITION_PARTITION_RULES_H_
#define KASHI_PARTITION_PARTITION_RULES_H_

#include <optional>

#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/partition/partition_rule.h"

namespace kashi::partition {

inline constexpr int kWhole = PartitionRule::kWhole;

using RuleMaker = std::optional<PartitionRule> (*)(const HloInstruction& instruction);

// partition_rules_movement.cc
std::optional<PartitionRule> ElementwiseRule(const HloInstruction& instruction);
std::optional<PartitionRule> BitcastConvertRule(const HloInstruction& instruction);
std::optional<PartitionRule> BroadcastRule(const HloInstruction& instruction);
std::optional<PartitionRule> TransposeRule(const HloInstruction& instruction);
std::optional<PartitionRule> ReshapeRule(const HloInstruction& instruction);
std::optional<PartitionRule> SliceRule(const HloInstruction& instruction);
std::optional<PartitionRule> PadRule(const HloInstruction& instruction);
std::optional<PartitionRule> ConcatenateRule(const HloInstruction& instruction);
std::optional<PartitionRule> ReverseRule(const HloInstruction& instruction);
std::optional<PartitionRule> SortRule(const HloInstruction& instruction);
std::optional<PartitionRule> DynamicSliceRule(const HloInstruction& instruction);
std::optional<PartitionRule> DynamicUpdateSliceRule(const HloInstruction& instruction);
std::optional<PartitionRule> IotaRule(const HloInstruction& instruction);
// partition_rules_sum.cc
std::optional<PartitionRule> ReduceRule(const HloInstruction& instruction);
std::optional<PartitionRule> DotRule(const HloInstruction& instruction);
std::optional<PartitionRule> ConvolutionRule(const HloInstruction& instruction);
std::optional<PartitionRule> WindowRule(const HloInstruction& instruction);  // reduce-window, select-and-scatter
// partition_rules_indexed.cc
std::optional<PartitionRule> GatherRule(const HloInstruction& instruction);
std::optional<PartitionRule> ScatterRule(const HloInstruction& instruction);
std::optional<PartitionRule> FftRule(const HloInstruction& instruction);
std::optional<PartitionRule> LeadingRule(const HloInstruction& instruction);  // cholesky, topk
// The first dimensions of all operands and results belong together.
PartitionRule LeadingDimensionsRule(const HloInstruction& instruction, int64_t leading);
std::optional<PartitionRule> TriangularSolveRule(const HloInstruction& instruction);
std::optional<PartitionRule> BatchNormRule(const HloInstruction& instruction);

// The leaves of a result: itself, or the elements of a tuple.
std::vector<const Shape*> ResultsOf(const HloInstruction& instruction);
// FactorsOf adds one factor for each dimension; WholeDimensions has kWhole for all of them.
std::vector<int> FactorsOf(const Shape& shape, PartitionRule* rule);
std::vector<int> WholeDimensions(const Shape& shape);

}  // namespace kashi::partition

#endif  // KASHI_PARTITION_PARTITION_RULES_H_
