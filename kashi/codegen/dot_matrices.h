// A dot as a product of matrices that lie in memory as they are.
#ifndef KASHI_CODEGEN_DOT_MATRICES_H_
#define KASHI_CODEGEN_DOT_MATRICES_H_

#include <cstdint>
#include <optional>

#include "kashi/array/primitive_type.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/kernels/matrix_product.h"

namespace kashi::codegen {

// result[b, i, j] = sum over k of lhs[b, i, k] * rhs[b, k, j]; the result is dense.
struct DotMatrices {
  struct Strides {
    int64_t batch, row, column;  // elements
  };
  PrimitiveType type;
  kernels::MatrixProductSizes sizes;
  Strides lhs, rhs;
};

// Nothing if the layout of an operand is not that of a matrix, and for types other than F32 and F64.
std::optional<DotMatrices> DotMatricesOf(const HloInstruction& dot);

}  // namespace kashi::codegen

#endif  // KASHI_CODEGEN_DOT_MATRICES_H_
