// FftBlocks: transforms of one length that is a product of small primes, side by side in the lanes of vectors. Roots of
// unity for all Fourier transforms.
#ifndef KASHI_KERNELS_FFT_BLOCKS_H_
#define KASHI_KERNELS_FFT_BLOCKS_H_

#include <complex>
#include <cstdint>
#include <vector>

#include "kashi/kernels/fft_kernels.h"

namespace kashi::kernels {

// e^(-2 pi i j / n) for 0 <= j < n < 2^53. Roots that mirror each other have equal numbers, and roots on the axes are
// exact.
std::complex<double> FftRoot(int64_t j, int64_t n);

// Whether FftBlocks can have this length: no prime factor is larger than kLargestFftRadix.
bool IsFftBlockLength(int64_t n);

template <typename T>
class FftBlocks {
 public:
  // n < 2^31. Takes time and memory in proportion to n: some 4 n elements of T.
  explicit FftBlocks(int64_t n);

  int64_t length() const { return length_; }
  // Elements of T in the blocks of one transform.
  int64_t numbers() const { return 2 * FindFftKernels<T>().lanes * length_; }
  // Transforms in place; afterwards block order()[k] has frequency k.
  void Transform(T* blocks) const;
  // Beyond the length, up to the next multiple of W, every number is in its own place.
  const int32_t* order() const { return order_.data(); }

 private:
  struct Stage {
    int radix;
    int64_t m, groups;  // as in FftStage
    std::vector<T> twiddles, roots;
  };

  int64_t length_;
  std::vector<Stage> stages_;
  std::vector<int32_t> order_;
};

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_FFT_BLOCKS_H_
