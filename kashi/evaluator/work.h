// The work of an evaluation, in operations on elements. EvaluationOptions::max_work limits it. The measure does not
// depend on the machine, and is close to what the evaluator does. (kashi/analysis counts flops and bytes as XLA does.)
//
//   any instruction                         1, and 1 for each element of its result
//   dot, convolution                        2 for each product
//   reduce, map, sort, scatter …            the instructions of to_apply for each time that it is called
//   call, fusion, while, conditional        1, and the work of the computations that they run, each time
//
// Rules of single operations: work_rules.h.
#ifndef KASHI_EVALUATOR_WORK_H_
#define KASHI_EVALUATOR_WORK_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {

// The work of one instruction, with the sizes (or bounds) of its shapes, without the work of computations that run
// step by step, which is counted there. At least 1; INT64_MAX if it does not fit. Time: a pass over the computations
// on scalars that the instruction calls.
int64_t WorkOf(const HloInstruction& instruction);
// The work with the sizes of these values; results that are not arrays are null.
int64_t WorkOfValues(const HloInstruction& instruction, absl::Span<const Value> operands,
                     absl::Span<const DenseShape> results);

// The least work of evaluating a computation with any arguments: the cheapest branch of a conditional, the known
// iterations of a loop, and no elements in dynamic dimensions. Time: one pass over the computations that it calls.
int64_t LeastWorkOf(const HloComputation& computation);

// An estimate of the nanoseconds that the evaluator needs for a computation, on one of today's processors: 100 for an
// instruction, 1 for an operation on an element, 1/16 for one of a dot or a convolution. A loop with an unknown number
// of iterations counts as a thousand. Time: as LeastWorkOf.
int64_t EstimatedNanosecondsOf(const HloComputation& computation);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_WORK_H_
