// Products of matrices that are packed as a whole before they are multiplied: for matrices of some size, where each
// element is read many times, and for short elements (matrix_product_kernels.h).
//
//   for each stretch of k that fits the memory for packed operands:
//     pack lhs in tiles of rows, rhs in panels of columns                   threads share the tiles and panels
//     for each block of out, rows x columns:                                threads share the blocks
//       for each `depth` words of k:                                        the block of lhs stays in L2
//         for each panel in the block:                                      so does the panel
//           for each tile in the block: multiply in registers
//
// A tile of out is loaded and stored once for `depth` words (PackedKernels), and its rows are often a multiple of the
// page apart: with vectors that costs more than reading the panel from L2, so `depth` is four times that which fits L1.
#ifndef KASHI_KERNELS_PACKED_MATRIX_PRODUCT_H_
#define KASHI_KERNELS_PACKED_MATRIX_PRODUCT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/matrix_product.h"
#include "kashi/kernels/matrix_product_kernels.h"

namespace kashi::kernels {

// Element (i, k) of matrix b is at data + element_bytes * (b * batch_stride + i * i_stride + k * k_stride). i: the row
// of lhs, the column of rhs.
struct PackedOperand {
  const void* data;
  int element_bytes;
  int64_t batch_stride, i_stride, k_stride;
  PackFunction pack;      // from these elements to the words of the product's kernels
  uint32_t flipped_bits;  // of each word
};

template <typename T>
struct PackedProduct {
  MatrixProductSizes sizes;  // k in elements
  PackedOperand lhs, rhs;
  MatrixResult<T> out;
  bool add;
  const PackedKernels<T>& kernels;
  StopFunction check_stopped;
};

// Whether MatrixProduct packs both operands as a whole.
inline bool IsPackedAsAWhole(const MatrixProductSizes& sizes) {
  constexpr int64_t kLeastSize = 128, kLeastWork = 1 << 21;
  return sizes.m >= kLeastSize && sizes.n >= kLeastSize &&
         static_cast<double>(sizes.m) * sizes.n * sizes.k >= kLeastWork;
}

// Returns false, and does nothing, if there is no memory for packed operands. An error is that of check_stopped(); the
// result is then unspecified. The order of additions in an element depends on k and the kernels only. T: float, double,
// uint32_t, uint64_t.
template <typename T>
[[nodiscard]] absl::StatusOr<bool> RunPackedProduct(const PackedProduct<T>& product);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_PACKED_MATRIX_PRODUCT_H_
