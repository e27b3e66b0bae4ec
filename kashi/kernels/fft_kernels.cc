#include "kashi/kernels/fft_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace kashi::kernels {
namespace {

namespace portable {
#define KASHI_TARGET
#define KASHI_VECTOR_BYTES 16
#include "kashi/kernels/fft_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
}  // namespace portable

#ifdef __x86_64__
namespace avx2 {
#define KASHI_TARGET __attribute__((target("avx2,fma")))
#define KASHI_VECTOR_BYTES 32
#include "kashi/kernels/fft_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
}  // namespace avx2

namespace avx512 {
#define KASHI_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#include "kashi/kernels/fft_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
}  // namespace avx512
#endif

template <typename T>
const FftKernels<T>& ChooseFftKernels() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw")) {
    return avx512::kFftKernels<T>;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::kFftKernels<T>;
#endif
  return portable::kFftKernels<T>;
}

}  // namespace

template <typename T>
const FftKernels<T>& FindFftKernels() {
  static const FftKernels<T>& kernels = ChooseFftKernels<T>();
  return kernels;
}
template const FftKernels<float>& FindFftKernels<float>();
template const FftKernels<double>& FindFftKernels<double>();

}  // namespace kashi::kernels
