// The element kernel (kashi/kernels/element_kernel.h) of an instruction.
#ifndef KASHI_EVALUATOR_INSTRUCTION_KERNEL_H_
#define KASHI_EVALUATOR_INSTRUCTION_KERNEL_H_

#include "absl/status/statusor.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/element_kernel.h"

namespace kashi::evaluator {

// Pre: HasElementKernel. UNIMPLEMENTED for types that the operation does not support.
absl::StatusOr<kernels::ElementKernel> FindElementKernel(const HloInstruction& instruction);

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_INSTRUCTION_KERNEL_H_
