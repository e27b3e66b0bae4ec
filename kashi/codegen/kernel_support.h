// The operations that the emitters of kernels make code for, as the passes ask for them.
#ifndef KASHI_CODEGEN_KERNEL_SUPPORT_H_
#define KASHI_CODEGEN_KERNEL_SUPPORT_H_

#include "kashi/passes/code_support.h"

namespace kashi::internal {

const CodeSupport& KernelSupport();

}  // namespace kashi::internal

#endif  // KASHI_CODEGEN_KERNEL_SUPPORT_H_
