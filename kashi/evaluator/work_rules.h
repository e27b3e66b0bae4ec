// The work of single operations, in operations on elements, from the sizes of their arrays (work.h). The table of
// operations (operation_table.h) names the rule of each opcode. Numbers that do not fit are INT64_MAX.
#ifndef KASHI_EVALUATOR_WORK_RULES_H_
#define KASHI_EVALUATOR_WORK_RULES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

// The sizes of the arrays that an instruction reads and writes. A value that is not an array has none.
struct ArraySizes {
  using Sizes = absl::InlinedVector<int64_t, 6>;

  absl::InlinedVector<Sizes, 4> operands;
  absl::InlinedVector<Sizes, 2> results;  // at least one
};

using WorkFunction = int64_t (*)(const HloInstruction& instruction, const ArraySizes& arrays);

int64_t NoWork(const HloInstruction& instruction, const ArraySizes& arrays);
// 1 for each element of the results.
int64_t WorkOfResults(const HloInstruction& instruction, const ArraySizes& arrays);
// 1 for each element of the operands and of the results.
int64_t WorkOfAllArrays(const HloInstruction& instruction, const ArraySizes& arrays);
// 1 for each element of operand 1, which replaces elements of operand 0 in place.
int64_t WorkOfUpdate(const HloInstruction& instruction, const ArraySizes& arrays);
// cholesky, triangular-solve: the row of a matrix for each element of the result.
int64_t WorkOfTriangle(const HloInstruction& instruction, const ArraySizes& arrays);
// 2 for each product.
int64_t WorkOfDot(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfRaggedDot(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfConvolution(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfFft(const HloInstruction& instruction, const ArraySizes& arrays);
// The instructions of the computations that they call, for each time that they call them.
int64_t WorkOfReduce(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfMap(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfReduceWindow(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfSelectAndScatter(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfSort(const HloInstruction& instruction, const ArraySizes& arrays);
int64_t WorkOfScatter(const HloInstruction& instruction, const ArraySizes& arrays);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_WORK_RULES_H_
