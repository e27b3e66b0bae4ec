// How much work an evaluation is, in operations on elements: what EvaluationOptions::max_work limits. A measure of cost that
// does not depend on the machine, near what the evaluator really does; flops and bytes as XLA counts them are
// kashi/analysis's business.
//
//   any instruction                         1, and 1 for each element of its result
//   dot, convolution                        2 for each product
//   reduce, map, sort, scatter …            the instructions of to_apply for each time that it is called
//   call, fusion, while, conditional        1, and what the computations take that they run, each time
#ifndef KASHI_EVALUATOR_WORK_H_
#define KASHI_EVALUATOR_WORK_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/evaluator/value.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::internal {

// Of one instruction, but for computations that run step by step (they count themselves); with the sizes, or bounds, that
// the shapes have. At least 1; INT64_MAX if there is more. Costs a pass over what it calls on scalars.
int64_t WorkOf(const HloInstruction& instruction);
// The same with the sizes that values have; results that are no arrays are null.
int64_t WorkOfValues(const HloInstruction& instruction, absl::Span<const Value> operands,
                     absl::Span<const DenseShape> results);

// What evaluating a computation takes at least, whatever the arguments: of a conditional the cheapest branch, of a loop as
// many iterations as are known from constants, dynamic dimensions empty. One pass over the computations that it calls, however
// often they call each other.
int64_t LeastWorkOf(const HloComputation& computation);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_WORK_H_
