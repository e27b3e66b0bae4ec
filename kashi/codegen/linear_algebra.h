// Custom calls of linear algebra on small matrices, as calls of functions of this process.
#ifndef KASHI_CODEGEN_LINEAR_ALGEBRA_H_
#define KASHI_CODEGEN_LINEAR_ALGEBRA_H_

#include <optional>

#include "kashi/codegen/code_module.h"
#include "kashi/codegen/lane_builder.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/small_linear_algebra.h"

namespace kashi::codegen {

// Nothing for other instructions, large matrices, complex ones (but for eigenvalues), and forms that JAX does not
// write.
//
//   (f32[2,3,3]{1,2,0}, s32[2]) custom-call(f32[2,3,3]{1,2,0} a), custom_call_target="lapack_spotrf_ffi",
//     backend_config={uplo = 76 : ui8}
std::optional<kernels::LinearAlgebraCall> LinearAlgebraCallOf(const HloInstruction& instruction);

// Calls the function for all matrices. operands, results: addresses of tables of pointers.
void EmitLinearAlgebra(const kernels::LinearAlgebraCall& call, llvm::Value* operands, llvm::Value* results, Ir& ir,
                       CodeModule& module);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_LINEAR_ALGEBRA_H_
