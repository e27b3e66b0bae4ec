// Which elements a dot or a convolution multiplies: all it takes to tell are shapes.
#ifndef KASHI_EVALUATOR_PRODUCT_TRACE_H_
#define KASHI_EVALUATOR_PRODUCT_TRACE_H_

#include <cstdint>
#include <functional>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// Calls `tell` for each product of a dot or a convolution, and not at all for others: where the elements of the
// result, of lhs and of rhs stand, as IndexUtil::MultidimensionalIndexToLinearIndex counts. O(products), slow.
void TraceProducts(const HloInstruction& instruction,
                   const std::function<void(int64_t result, int64_t lhs, int64_t rhs)>& tell);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_PRODUCT_TRACE_H_
