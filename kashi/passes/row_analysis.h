// Row kernels, for softmax and layer norm. A kernel goes over each row several times while the row is in the cache, and
// computes the values of a row, sums above all, once for the row.
//
//   for row:                                softmax of f32[rows, columns]
//     for column: m = max(m, x)             phase 0
//     for column: e = exp(x - m)            phase 1; e stays in the row of the result
//                 s += e
//     for column: result = e / s            phase 2
#ifndef KASHI_PASSES_ROW_ANALYSIS_H_
#define KASHI_PASSES_ROW_ANALYSIS_H_

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/passes/code_support.h"
#include "kashi/passes/index_mapping.h"

namespace kashi::passes {

// The sizes of the array whose innermost dimension is a row: the root, or the operand of a root that is a row reduce.
// Nothing if rows are too short, too long or too few for a row kernel.
std::optional<absl::Span<const int64_t>> RowSizesOf(const HloInstruction& root);

// Reduces exactly the innermost dimension of one array, in any order.
bool IsRowReduce(const HloInstruction& instruction);

struct RowAnalysis {
  // Members that have one element for each row, and the index with which it is read: functions of the coordinates of
  // the row, or not known, which is 0. Not scalars.
  absl::flat_hash_map<const HloInstruction*, IndexMapping> once_per_row;
  // Other members that are asked for only at the row and column of the result.
  absl::flat_hash_set<const HloInstruction*> at_result;
  // Whether each reduce within is a row reduce of the same rows.
  bool is_valid = true;
};
// The root must have row sizes.
RowAnalysis AnalyzeRows(const HloInstruction& root, absl::FunctionRef<bool(const HloInstruction&)> is_member);

// Whether a row kernel should compute it.
bool IsForRowKernel(const HloComputation& fused, const CodeSupport& support);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_ROW_ANALYSIS_H_
