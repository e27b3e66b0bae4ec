#include "kashi/kernels/fft_blocks.h"

#include <cmath>
#include <utility>

#include "kashi/base/check.h"

namespace kashi::kernels {
namespace {

// The factors of the stages of a transform; empty if a prime is too large. Powers of two take the largest radix that
// leaves no factor of 2 alone.
std::vector<int> Radices(int64_t n) {
  std::vector<int> radices;
  for (; n % 32 == 0 || n % 16 == 8; n /= 8) radices.push_back(8);
  for (int radix : {4, 2}) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  for (int radix = 3; radix <= kLargestFftRadix; radix += 2) {
    for (; n % radix == 0; n /= radix) radices.push_back(radix);
  }
  if (n != 1) radices.clear();
  return radices;
}

template <typename T>
void Append(std::complex<double> number, std::vector<T>& numbers) {
  numbers.push_back(static_cast<T>(number.real()));
  numbers.push_back(static_cast<T>(number.imag()));
}

}  // namespace

// The angle is reduced to the first eighth of a turn, where sine and cosine are most precise.
std::complex<double> FftRoot(int64_t j, int64_t n) {
  if (2 * j > n) return std::conj(FftRoot(n - j, n));
  if (4 * j > n) {
    const std::complex<double> mirror = FftRoot(n - 2 * j, 2 * n);  // of the half turn
    return {-mirror.real(), mirror.imag()};
  }
  if (8 * j > n) {
    const std::complex<double> mirror = FftRoot(n - 4 * j, 4 * n);  // of the quarter turn
    return {-mirror.imag(), -mirror.real()};
  }
  const double angle = 2 * M_PI * (static_cast<double>(j) / static_cast<double>(n));
  return {std::cos(angle), -std::sin(angle)};
}

bool IsFftBlockLength(int64_t n) { return n == 1 || !Radices(n).empty(); }

template <typename T>
FftBlocks<T>::FftBlocks(int64_t n) : length_(n) {
  KASHI_CHECK(n <= INT32_MAX && IsFftBlockLength(n));
  int64_t m = n;
  order_.push_back(0);
  for (int radix : Radices(n)) {
    m /= radix;
    Stage stage{radix, m, n / m / radix, {}, {}};
    for (int t = 0; t < radix; ++t) Append(FftRoot(t, radix), stage.roots);
    for (int64_t j = 0; m > 1 && j < m; ++j) {
      for (int t = 1; t < radix; ++t) Append(FftRoot(j * t, m * radix), stage.twiddles);
    }
    stages_.push_back(std::move(stage));
    const int64_t known = order_.size();  // t is the next digit of k, behind those that are known
    for (int64_t i = known; i < known * radix; ++i) order_.push_back(order_[i - known] + static_cast<int32_t>(m));
  }
  for (int64_t k = n; k % FindFftKernels<T>().lanes != 0; ++k) order_.push_back(static_cast<int32_t>(k));
}

template <typename T>
void FftBlocks<T>::Transform(T* blocks) const {
  const FftKernels<T>& kernels = FindFftKernels<T>();
  for (const Stage& stage : stages_) {
    const auto run = stage.radix <= 8 ? kernels.stages[stage.radix] : kernels.odd_stage;
    run({stage.radix, blocks, stage.m, stage.groups, stage.twiddles.data(), stage.roots.data()});
  }
}

template class FftBlocks<float>;
template class FftBlocks<double>;

}  // namespace kashi::kernels
