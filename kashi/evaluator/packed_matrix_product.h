// Products of matrices that are packed as a whole before they are multiplied: for matrices of some size, where each
// element is read many times, and for short elements (matrix_product_kernels.h).
//
//   for each stretch of k that fits the memory for packed operands:
//     pack lhs in tiles of rows, rhs in panels of columns                   threads share the tiles and panels
//     for each block of out, rows x columns:                                threads share the blocks
//       for each kDepth words of k:                                         the block of lhs stays in L2
//         for each panel in the block:                                      the panel stays in L1
//           for each tile in the block: multiply in registers
#ifndef KASHI_EVALUATOR_PACKED_MATRIX_PRODUCT_H_
#define KASHI_EVALUATOR_PACKED_MATRIX_PRODUCT_H_

#include <cstdint>

#include "kashi/base/work_meter.h"
#include "kashi/evaluator/matrix_product.h"
#include "kashi/evaluator/matrix_product_kernels.h"

namespace kashi::internal {

// Sizes of a block.
constexpr int64_t kProductDepth = 256;        // words of k that are multiplied at a time
constexpr int64_t kProductTilesDown = 40;     // 320 rows of 256 floats are 320 KiB
constexpr int64_t kProductPanelsAcross = 64;  // at most

// Element (i, k) of matrix b is at data + element_bytes * (b * batch_stride + i * i_stride + k * k_stride). i: the row
// of lhs, the column of rhs.
struct PackedOperand {
  const void* data;
  int element_bytes;
  int64_t batch_stride, i_stride, k_stride;
  uint32_t flipped_bits;  // of each word
};

template <typename T>
struct PackedProduct {
  MatrixProductSizes sizes;  // k in elements
  PackedOperand lhs, rhs;
  MatrixResult<T> out;
  bool add;
  const PackedKernels<T>& kernels;
  StopFunction is_stopped;
};

// False, and nothing happens, if there is no memory for packed operands. The order of additions in an element depends
// on k and the kernels only. T: float, double, uint32_t, uint64_t.
template <typename T>
bool RunPackedProduct(const PackedProduct<T>& product);

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_PACKED_MATRIX_PRODUCT_H_
