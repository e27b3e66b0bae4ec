// The pairs of elements that a dot or a convolution multiplies. They are determined by the shapes.
#ifndef KASHI_EVALUATOR_PRODUCT_TRACE_H_
#define KASHI_EVALUATOR_PRODUCT_TRACE_H_

#include <cstdint>
#include <functional>

#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

// Calls `tell` for each product of a dot or a convolution, with the linear indices of the elements of the result, lhs
// and rhs (IndexUtil::MultidimensionalIndexToLinearIndex). Does nothing for other operations. O(products), slow.
void TraceProducts(const HloInstruction& instruction,
                   const std::function<void(int64_t result, int64_t lhs, int64_t rhs)>& tell);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_PRODUCT_TRACE_H_
