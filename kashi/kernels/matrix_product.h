// MatrixProduct: out[b] = lhs[b] * rhs[b] for matrices with any strides. dot, ragged-dot, scaled-dot and convolution
// use it.
//
//   for b, i, j:  out[b, i, j] = sum over p of lhs[b, i, p] * rhs[b, p, j]        (or += with MatrixProductMode::kAdd)
//
//   status = MatrixProduct<float>({1, m, k, n}, {a, 0, k, 1}, {b, 0, 1, k}, {c, 0, n});   // c = a * transpose(b)
//
// Speed: at least half of a core's peak from about 64^3 on, with any strides. It uses the processor's widest vectors,
// chosen at run time: AVX-512, AVX2 with FMA, or the compiler's baseline. Large products use all threads. The order of
// additions in an element depends only on the sizes and strides. f32 and f64 may fuse multiply and add.
#ifndef KASHI_KERNELS_MATRIX_PRODUCT_H_
#define KASHI_KERNELS_MATRIX_PRODUCT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/types.h"
#include "kashi/base/check.h"
#include "kashi/base/work_meter.h"

namespace kashi::kernels {

struct MatrixProductSizes {
  int64_t batch;
  int64_t m;  // rows of lhs and out
  int64_t k;  // columns of lhs, rows of rhs; 0 makes zeros
  int64_t n;  // columns of rhs and out
};

// Element (i, j) of matrix b is data[b * batch_stride + i * row_stride + j * column_stride].
template <typename T>
struct MatrixOperand {
  const T* data;
  int64_t batch_stride;
  int64_t row_stride;
  int64_t column_stride;
};

// The elements of a row are contiguous. Rows, also those of different matrices, must not overlap.
template <typename T>
struct MatrixResult {
  T* data;
  int64_t batch_stride;
  int64_t row_stride;
};

enum class MatrixProductMode { kAssign, kAdd };

// Ends early with the error of check_stopped(); the result is then unspecified.
//
// T: float, double, uint32_t and uint64_t (which wrap, and so serve signed integers too), complex64, complex128.
template <typename T>
[[nodiscard]] absl::Status MatrixProduct(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs,
                                         const MatrixOperand<T>& rhs, const MatrixResult<T>& out,
                                         MatrixProductMode mode = MatrixProductMode::kAssign,
                                         StopFunction check_stopped = NeverStopped);

// For many products with one rhs: it is packed once, in the order in which MatrixProduct reads it. The results are bit
// for bit those of MatrixProduct. T: float, double.
//
//   if (const int64_t bytes = PackedRhsBytes<float>(sizes, lhs, rhs); bytes > 0) {   // memory with this many bytes
//     PackRhs(sizes, rhs, packed);
//     status = MatrixProductOfPacked(sizes, lhs, packed, out);                       // as often as needed
//   }
//
// The bytes are 0 if packing gains nothing: if MatrixProduct reads rhs as it lies, or packs both operands as a whole.
// Only the strides of the operands count.
template <typename T>
int64_t PackedRhsBytes(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs, const MatrixOperand<T>& rhs);
template <typename T>
void PackRhs(const MatrixProductSizes& sizes, const MatrixOperand<T>& rhs, T* packed);
template <typename T>
[[nodiscard]] absl::Status MatrixProductOfPacked(const MatrixProductSizes& sizes, const MatrixOperand<T>& lhs,
                                                 const T* packed_rhs, const MatrixResult<T>& out,
                                                 StopFunction check_stopped = NeverStopped);

// out[i, j] += lhs[i, j] * scales[j]: a product with a diagonal matrix. lhs is one matrix with contiguous rows, out
// another. One thread.
template <typename T>
void AddScaledColumns(int64_t rows, int64_t columns, const MatrixOperand<T>& lhs, const T* scales,
                      const MatrixResult<T>& out);

// The accumulation type of products with a `result` of this type (docs/spec/hlo-ops.md 4): F32 for all real types
// except F64, and for PRED, whose sums are counts that stay above zero; S32 or U32 for integers of up to 32 bits;
// otherwise the type itself.
PrimitiveType AccumulationType(PrimitiveType result);

// f(T()) with the T of MatrixProduct for arrays of a type that AccumulationType gives: uint32_t for S32 too.
template <typename F>
auto AccumulationTypeSwitch(F&& f, PrimitiveType type) {
  switch (type) {
    case F64:
      return f(double());
    case C64:
      return f(complex64());
    case C128:
      return f(complex128());
    case S32:
    case U32:
      return f(uint32_t());
    case S64:
    case U64:
      return f(uint64_t());
    default:
      KASHI_CHECK_EQ(type, F32);
      return f(float());
  }
}

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_MATRIX_PRODUCT_H_
