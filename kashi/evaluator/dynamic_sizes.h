// The result sizes of operations that give sizes themselves (dynamic_sizes.cc). The table of operations
// (operation_table.h) names the rule of each opcode; shape inference gives the sizes of all other operations.
#ifndef KASHI_EVALUATOR_DYNAMIC_SIZES_H_
#define KASHI_EVALUATOR_DYNAMIC_SIZES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

absl::StatusOr<std::vector<int64_t>> SizesOfBroadcast(const HloInstruction& broadcast,
                                                      absl::Span<const Value> operands);
absl::StatusOr<std::vector<int64_t>> SizesOfDynamicReshape(const HloInstruction& reshape,
                                                           absl::Span<const Value> operands);
absl::StatusOr<std::vector<int64_t>> SizesOfDynamicSlice(const HloInstruction& slice, absl::Span<const Value> operands);
absl::StatusOr<std::vector<int64_t>> SizesOfReshape(const HloInstruction& reshape, absl::Span<const Value> operands);
absl::StatusOr<std::vector<int64_t>> SizesOfSetDimensionSize(const HloInstruction& set,
                                                             absl::Span<const Value> operands);
absl::StatusOr<std::vector<int64_t>> SizesOfSlice(const HloInstruction& slice, absl::Span<const Value> operands);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_DYNAMIC_SIZES_H_
