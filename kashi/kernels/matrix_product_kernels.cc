#include "kashi/kernels/matrix_product_kernels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace kashi::kernels {
namespace {

namespace portable {
#define KASHI_MULTIPLY_ADD(sum, a, b) (sum) += (a) * (b)
#define KASHI_TARGET
#define KASHI_VECTOR_BYTES 16
#define KASHI_TILE_ROWS 6
#include "kashi/kernels/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
}  // namespace portable

#ifdef __x86_64__
namespace avx2 {
#define KASHI_TARGET __attribute__((target("avx2,fma")))
#define KASHI_VECTOR_BYTES 32
#define KASHI_TILE_ROWS 6
#include "kashi/kernels/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
}  // namespace avx2

namespace avx512 {
#define KASHI_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#define KASHI_TILE_ROWS 8  // more would fit the vector registers, but not the 16 others, where the rows' addresses are
#include "kashi/kernels/matrix_product_kernel.inc"
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
#include "kashi/kernels/matrix_product_kernel.inc"
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
#include "kashi/kernels/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
#undef KASHI_MULTIPLY_ADD
}  // namespace avx512_vnni

// Pairs of products of 16 bits are added before they join the sum: two elements of k in a word.
namespace avx2_pairs {
#define KASHI_TARGET __attribute__((target("avx2,fma")))
#define KASHI_VECTOR_BYTES 32
#define KASHI_TILE_ROWS 6
#define KASHI_MULTIPLY_ADD(sum, a, b) \
  (sum) += (Vector)_mm256_madd_epi16(_mm256_set1_epi32(static_cast<int32_t>(a)), (__m256i)(b))
#include "kashi/kernels/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
#undef KASHI_MULTIPLY_ADD
}  // namespace avx2_pairs

namespace avx512_pairs {
#define KASHI_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#define KASHI_VECTOR_BYTES 64
#define KASHI_TILE_ROWS 8
#define KASHI_MULTIPLY_ADD(sum, a, b) \
  (sum) += (Vector)_mm512_madd_epi16(_mm512_set1_epi32(static_cast<int32_t>(a)), (__m512i)(b))
#include "kashi/kernels/matrix_product_kernel.inc"
#undef KASHI_TARGET
#undef KASHI_VECTOR_BYTES
#undef KASHI_TILE_ROWS
#undef KASHI_MULTIPLY_ADD
}  // namespace avx512_pairs

namespace amx {
#include "kashi/kernels/matrix_product_amx.inc"
}  // namespace amx

bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
bool HasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
// Whether the instruction for bf16 does more in a cycle than that for f32, which takes half as many elements. Intel's
// processors begin one of the former in the time of four of the latter: only AMX is faster there.
bool HasFastBf16() { return !__builtin_cpu_is("intel"); }
bool HasAmx() {
  static const bool has_amx = HasAvx512() && amx::AskForAmx();
  return has_amx;
}
#endif

template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
const KernelTable<T>& ChooseKernels() {
#ifdef __x86_64__
  if (HasAvx512()) return avx512::Kernel<T, WordOf<T>, 1>::kTable;
  if (HasAvx2()) return avx2::Kernel<T, WordOf<T>, 1>::kTable;
#endif
  return portable::Kernel<T, WordOf<T>, 1>::kTable;
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
  using Vectors = avx512_bf16::Kernel<float, uint16_t, 2>;
  static constexpr PackedKernels<float> kVectors = Vectors::kPacked;
  static constexpr PackedKernels<float> kAmx = amx::AmxKernel<float, Vectors::kPack>::kPacked;
  if (!__builtin_cpu_supports("avx512bf16")) return nullptr;
  if (HasAmx()) return &kAmx;
  if (HasFastBf16()) return &kVectors;
#endif
  return nullptr;
}

Int8Kernels FindInt8Kernels() {
#ifdef __x86_64__
  using Vectors = avx512_vnni::Kernel<uint32_t, uint8_t, 4>;
  static constexpr PackedKernels<uint32_t> kVectors = Vectors::kPacked;
  static constexpr PackedKernels<uint32_t> kAmx = amx::AmxKernel<uint32_t, Vectors::kPack>::kPacked;
  if (HasAmx()) return {&kAmx, /*lhs_is_unsigned=*/false};
  if (__builtin_cpu_supports("avx512vnni")) return {&kVectors, /*lhs_is_unsigned=*/true};
#endif
  return {nullptr, false};
}

const PackedKernels<uint32_t>* FindInt16Kernels() {
#ifdef __x86_64__
  static constexpr PackedKernels<uint32_t> kAvx512 = avx512_pairs::Kernel<uint32_t, uint16_t, 2>::kPacked;
  static constexpr PackedKernels<uint32_t> kAvx2 = avx2_pairs::Kernel<uint32_t, uint16_t, 2>::kPacked;
  if (HasAvx512()) return &kAvx512;
  if (HasAvx2()) return &kAvx2;
#endif
  return nullptr;
}

namespace {

// The function of the instruction set that the kernels are of.
PackFunction ChoosePack(PackFunction for_avx512, PackFunction for_avx2, PackFunction portable) {
#ifdef __x86_64__
  if (HasAvx512()) return for_avx512;
  if (HasAvx2()) return for_avx2;
#endif
  return portable;
}

}  // namespace

PackFunction FindPackAsFloat(PrimitiveType type) {
  if (type != BF16) return nullptr;
  return ChoosePack(avx512::Packer<float, uint32_t, 1, uint16_t, 16>::Pack,
                    avx2::Packer<float, uint32_t, 1, uint16_t, 16>::Pack,
                    portable::Packer<float, uint32_t, 1, uint16_t, 16>::Pack);
}

PackFunction FindPackAsInt16(PrimitiveType type) {
  const auto choose = [](auto source) {
    using Source = decltype(source);
    return ChoosePack(avx512_pairs::Packer<uint32_t, uint16_t, 2, Source>::Pack,
                      avx2_pairs::Packer<uint32_t, uint16_t, 2, Source>::Pack, nullptr);
  };
  if (FindInt16Kernels() == nullptr) return nullptr;
  if (type == S8) return choose(int8_t());
  if (type == U8) return choose(uint8_t());
  return type == S16 ? choose(uint16_t()) : nullptr;
}

}  // namespace kashi::kernels
