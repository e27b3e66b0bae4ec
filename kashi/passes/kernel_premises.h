// The premises of kernels: conditions under which the code of a kernel is right. The fusion pass asks for them before
// an instruction joins a fusion, and EmitKernel asks again before it makes code: a fused computation that breaks one
// gets no kernel, and the evaluator runs it.
#ifndef KASHI_PASSES_KERNEL_PREMISES_H_
#define KASHI_PASSES_KERNEL_PREMISES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/passes/code_support.h"

namespace kashi::passes {

// A reduce that a kernel can compute: all types are those of its computation, and no array is empty or dynamic.
bool CanReduce(const HloInstruction& instruction, const CodeSupport& support);
// A scatter of plain arrays of one element type, by a computation on scalars of that type.
bool IsPlainScatter(const HloInstruction& instruction, const CodeSupport& support);
// One that a kernel can compute: its windows have one element.
bool CanScatter(const HloInstruction& instruction, const CodeSupport& support);

// Whether a dynamic-slice or dynamic-update-slice has a scalar start index for each dimension, from the operand
// `first_start` on. Old text has all start indices in one array.
bool HasScalarStarts(const HloInstruction& slice, int64_t first_start);

// Whether every array is read at the place where the result is written, so a result may take the place of an operand.
bool IsElementByElement(const HloComputation& fused, const CodeSupport& support);

// OK, or FAILED_PRECONDITION with the premise that the fused computation breaks, and where:
//   members    each instruction has code for its types and sizes (CodeSupport::CanFuse)
//   results    several results have the sizes of the first, and none is a reduce or a scatter
//   reduce     the root, or in a row kernel a reduce of exactly the rows of the result (row_analysis.h)
//   scatter    the root, and its operand is a parameter: it is in memory
// Cost: as AnalyzeRows for row kernels, else linear.
absl::Status CheckKernelPremises(const HloComputation& fused, const CodeSupport& support);

}  // namespace kashi::passes

#endif  // KASHI_PASSES_KERNEL_PREMISES_H_
