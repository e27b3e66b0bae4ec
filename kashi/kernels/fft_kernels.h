// The innermost loops of Fourier transforms, in the best form for this processor (fft_transform.h).
//
// W transforms run side by side, one in each lane of a vector. *Block* j is element j of all of them: W real parts,
// then W imaginary parts.
#ifndef KASHI_KERNELS_FFT_KERNELS_H_
#define KASHI_KERNELS_FFT_KERNELS_H_

#include <cstdint>

namespace kashi::kernels {

// Every prime up to this one is a radix.
constexpr int kLargestFftRadix = 61;

// One stage of a transform of blocks, in place. Of each group of m * radix blocks,
//
//   block j + m t = w^(j t) * sum over r of (block j + m r) e^(-2 pi i r t / radix)
//
// for j < m, t < radix, with w = e^(-2 pi i / (m radix)). The next stage does the same with groups of m blocks. So, in
// the end, the first digit of a place is the last one of the frequency: FftBlocks::order says where a frequency is.
template <typename T>
struct FftStage {
  int radix;
  T* blocks;
  int64_t m;
  int64_t groups;
  const T* twiddles;  // real and imaginary parts of w^(j t) for each j and 0 < t < radix; not read if m is 1
  const T* roots;     // real and imaginary parts of e^(-2 pi i t / radix) for t < radix
};

// Lines of complex numbers in an array of users: element j of line q at j * element_stride + q * line_stride, one of
// which is 1. In blocks, W of them are a group.
struct FftLines {
  void* data;
  int64_t element_stride, line_stride;
  int64_t count;
};

// Groups of n blocks; element k of a group is block order[k].
template <typename T>
struct FftResults {
  const T* blocks;
  int64_t group_step;  // from one group to the next
  const int32_t* order;
  int64_t n;
};

// A result is multiplied with the factor, and its real and imaginary parts are swapped if is_swapped: the inverse
// transform is the transform with the parts swapped before and after it.
template <typename T>
struct FftScale {
  T factor;
  bool is_swapped;
};

// The last stage of one transform of W * m elements whose elements a, a + W, … have been transformed in lane a:
//
//   out[k + m c] = sum over a < W of w^(a k) Y_a[k] e^(-2 pi i a c / W)
template <typename T>
struct FftJoin {
  const T* in;  // block order[k] has the elements k
  const int32_t* order;
  int64_t m;          // at least W
  const T* twiddles;  // blocks k: w^(a k), w = e^(-2 pi i / (W m))
  FftScale<T> scale;
  void* out;
};

// For the second half of a transform of length n1 * n2: lanes k1 = first .. first + W - 1 of
//
//   out[j2] = in[j2][k1] w^(j2 k1)                   w = e^(-2 pi i / (n1 n2))
//
// The input is in chunks of W numbers j2, which are lanes; a chunk has `chunk_blocks` blocks.
template <typename T>
struct FftTurn {
  const T* in;           // chunk 0
  const int32_t* order;  // block order[i] of a chunk has k1 = first + i
  int64_t chunk_blocks;
  int64_t n2;
  const T* lane_twiddles;  // blocks j2: w^(j2 q) in lane q
  const T* twiddles;       // real and imaginary parts of w^(j2 first)
  T* out;
};

// Between a transform of n / 2 complex numbers and one of n real numbers, n even.
template <typename T>
struct FftHalves {
  const void* in;
  void* out;
  int64_t half;       // n / 2
  const T* twiddles;  // real and imaginary parts of e^(-2 pi i k / n), k <= n / 4
};

// Products of the numbers of two rows, one by one: out[j] = in[j] factors[j], and then as FftScale says. If swaps_in,
// the parts of in[j] are swapped first.
template <typename T>
struct FftProduct {
  const void* in;
  const T* factors;
  int64_t count;
  bool swaps_in;
  FftScale<T> scale;
  void* out;
};

// The functions that read and write arrays of users. The numbers there may have less precision than T.
template <typename T>
struct FftStorage {
  int bytes;  // of a complex number
  // n elements of each line, their parts swapped or not. Group g of the blocks is at g * group_step. Lanes without a
  // line get zeros.
  void (*load)(const FftLines& lines, int64_t n, bool is_swapped, T* blocks, int64_t group_step);
  void (*store)(const FftResults<T>& results, FftScale<T> scale, const FftLines& lines);
  void (*join)(const FftJoin<T>& join);
  // From the transform of the n real numbers, taken as n / 2 complex ones (`in`: T), to frequencies 0 .. n / 2.
  void (*split_halves)(const FftHalves<T>& halves);
  // The way back, times 2. The imaginary parts of frequencies 0 and n / 2 count as 0.
  void (*join_halves)(const FftHalves<T>& halves);
  // Products whose result, or whose first factor, has type T.
  void (*multiply_from)(const FftProduct<T>& product);
  void (*multiply_to)(const FftProduct<T>& product);
};

template <typename T>
struct FftKernels {
  int lanes;                                    // W
  void (*stages[9])(const FftStage<T>& stage);  // by radix; null where there is none
  void (*odd_stage)(const FftStage<T>& stage);  // of any odd radix
  void (*turn)(const FftTurn<T>& turn);
  FftStorage<T> of_f32, of_f64;  // of_f64 is empty if T is float

  template <typename S>
  const FftStorage<T>& Storage() const {
    return sizeof(S) == sizeof(float) ? of_f32 : of_f64;
  }
};

// T: float, double.
template <typename T>
const FftKernels<T>& FindFftKernels();

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_FFT_KERNELS_H_
