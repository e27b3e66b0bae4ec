// FftPlan: discrete Fourier transforms of one length, any length, computed in T (float or double).
//
//   X[k] = sum over j < n of x[j] e^(-2 pi i j k / n)
//
// O(n log n) for every n. Lengths that are products of primes up to 61 take one pass for each factor. W transforms run
// side by side in the lanes of vectors (fft_blocks.h):
//
//   n                                  lanes are
//   not too long                       lines: rows, or neighbouring columns
//   a multiple of W, in rows           parts of one row: element W j + a is element j of lane a
//   too long for the caches            columns, then rows, of the line seen as an array [n1][n2]
//
// Other lengths become a convolution (Bluestein), whose length is a product of small primes.
#ifndef KASHI_KERNELS_FFT_TRANSFORM_H_
#define KASHI_KERNELS_FFT_TRANSFORM_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/fft_kernels.h"

namespace kashi::kernels {

// Some lines to transform, all rows (element_stride 1) or all columns (line_stride 1). `from` and `to` may be the same.
template <typename T>
struct FftCall {
  FftLines from;
  const FftStorage<T>* from_storage;
  FftLines to;
  const FftStorage<T>* to_storage;
  bool is_inverse;
  T scale;  // of the result
};

// Memory that a call may use: for all threads together, and for each.
template <typename T>
struct FftScratch {
  T* shared;
  T* threads;
  int64_t numbers_of_thread;

  T* Of(int thread) const { return threads + thread * numbers_of_thread; }
};

template <typename T>
class FftPlan {
 public:
  virtual ~FftPlan() = default;

  // The most lines of a call.
  virtual int64_t lines() const = 0;
  // Whether a call uses several threads. Otherwise, several threads may call.
  virtual bool is_parallel() const { return false; }
  // Elements of T that FftScratch must have.
  virtual int64_t shared_scratch() const { return 0; }
  virtual int64_t thread_scratch() const = 0;

  // `thread` is the caller's in its ParallelFor, else 0. Ends early with the error of check_stopped.
  [[nodiscard]] virtual absl::Status Transform(const FftCall<T>& call, const FftScratch<T>& scratch, int thread,
                                               StopFunction check_stopped) const = 0;
};

// The most memory of a plan for each element of a line, in elements of T.
constexpr int64_t kFftPlanNumbers = 64;

// length >= 1. `lines`: how many there are; only the speed depends on it. Takes time in proportion to the length.
template <typename T>
std::unique_ptr<const FftPlan<T>> MakeFftPlan(int64_t length, bool is_rows, int64_t lines);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_FFT_TRANSFORM_H_
