#include "kashi/evaluator/instruction_kernel.h"

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

namespace kashi::evaluator {
namespace {

absl::StatusOr<kernels::ElementKernel> KernelForInstruction(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  const PrimitiveType result = instruction.shape().element_type();
  absl::InlinedVector<PrimitiveType, 3> types;
  for (const HloInstruction* operand : instruction.operands()) types.push_back(operand->shape().element_type());
  if (opcode == HloOpcode::kCompare) {
    return kernels::FindCompareKernel(instruction.comparison_direction(), instruction.comparison_order(), types[0],
                                      types[1]);
  }
  if (types.size() == 1) return kernels::FindUnaryKernel(opcode, types[0], result);
  if (types.size() == 2) return kernels::FindBinaryKernel(opcode, types[0], types[1], result);
  return kernels::FindTernaryKernel(opcode, types[0], types[1], types[2], result);
}

}  // namespace

absl::StatusOr<kernels::ElementKernel> FindElementKernel(const HloInstruction& instruction) {
  absl::StatusOr<kernels::ElementKernel> kernel = KernelForInstruction(instruction);
  if (!kernel.ok()) {
    return absl::Status(kernel.status().code(), absl::StrCat(instruction.name(), ": ", kernel.status().message()));
  }
  if (instruction.opcode() == HloOpcode::kReducePrecision) {
    kernel->exponent_bits = instruction.exponent_bits();
    kernel->mantissa_bits = instruction.mantissa_bits();
  }
  return kernel;
}

}  // namespace kashi::evaluator
