#include "kashi/evaluator/matrix_product_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace kashi::internal {
namespace {

namespace portable {
#define KASHI_MULTIPLY_ADD(sum, a, b) (sum) += (a) * (b)
#define KASHI_TARGET
#define KASHI_VECTOR_BYTES 16
#define KASHI_TILE_ROWS 6
#include "kashi/evaluator/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
}  // namespace portable

#ifdef __x86_64__
namespace avx2 {
#define KASHI_TARGET __attribute__((target("avx2,fma")))
#define KASHI_VECTOR_BYTES 32
#define KASHI_TILE_ROWS 6
#include "kashi/evaluator/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
}  // namespace avx2

namespace avx512 {
#define KASHI_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#define KASHI_TILE_ROWS 8  // more would fit the vector registers, but not the 16 others, where the rows' addresses are
#include "kashi/evaluator/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
}  // namespace avx512
#undef KASHI_MULTIPLY_ADD

// The words of lhs and rhs are in vectors of the result's type: they are only moved.
namespace avx512_bf16 {
#define KASHI_TARGET __attribute__((target("avx512bf16,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#define KASHI_TILE_ROWS 8
#define KASHI_MULTIPLY_ADD(sum, a, b) \
  (sum) = (Vector)_mm512_dpbf16_ps((__m512)(sum), (__m512bh)_mm512_set1_ps(a), (__m512bh)(b))
#include "kashi/evaluator/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
#undef KASHI_MULTIPLY_ADD
}  // namespace avx512_bf16

namespace avx512_vnni {
#define KASHI_TARGET __attribute__((target("avx512vnni,avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#define KASHI_TILE_ROWS 8
#define KASHI_MULTIPLY_ADD(sum, a, b) \
  (sum) = (Vector)_mm512_dpbusd_epi32((__m512i)(sum), _mm512_set1_epi32(static_cast<int32_t>(a)), (__m512i)(b))
#include "kashi/evaluator/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
#undef KASHI_MULTIPLY_ADD
}  // namespace avx512_vnni
#endif

template <typename T>
const KernelTable<T>& ChooseKernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return avx512::Kernel<T, T, 1>::kTable;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::Kernel<T, T, 1>::kTable;
#endif
  return portable::Kernel<T, T, 1>::kTable;
}

}  // namespace

template <typename T>
const KernelTable<T>& FindKernels() {
  static const KernelTable<T>& kernels = ChooseKernels<T>();
  return kernels;
}
template const KernelTable<float>& FindKernels<float>();
template const KernelTable<double>& FindKernels<double>();
template const KernelTable<uint32_t>& FindKernels<uint32_t>();
template const KernelTable<uint64_t>& FindKernels<uint64_t>();

const PackedKernels<float>* FindBf16Kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512bf16")) {
    static constexpr PackedKernels<float> kKernels = avx512_bf16::Kernel<float, uint16_t, 2>::kPacked;
    return &kKernels;
  }
#endif
  return nullptr;
}

const PackedKernels<uint32_t>* FindInt8Kernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vnni")) {
    static constexpr PackedKernels<uint32_t> kKernels = avx512_vnni::Kernel<uint32_t, uint8_t, 4>::kPacked;
    return &kKernels;
  }
#endif
  return nullptr;
}

}  // namespace kashi::internal
