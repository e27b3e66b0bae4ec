// The operations for which kernels can be emitted, in the form that the passes need.
#ifndef KASHI_CODEGEN_KERNEL_SUPPORT_H_
#define KASHI_CODEGEN_KERNEL_SUPPORT_H_

#include "kashi/passes/code_support.h"

namespace kashi::codegen {

const passes::CodeSupport& KernelSupport();

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_KERNEL_SUPPORT_H_
