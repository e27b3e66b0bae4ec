// FftPlan: discrete Fourier transforms of one length, any length, in double precision.
//
//   X[k] = sum over j < n of x[j] e^(-2 pi i j k / n)
//
// O(n log n) for every n: lengths that are products of primes up to 13 use one butterfly per factor (Stockham's order,
// which needs no bit reversal); other lengths use a convolution whose length is a power of two (Bluestein).
//
// Real and imaginary parts are arrays of their own, and several transforms ("lanes") run side by side, element j of
// lane q at j * lanes + q, so that inner loops are long and simple.
#ifndef KASHI_EVALUATOR_FFT_TRANSFORM_H_
#define KASHI_EVALUATOR_FFT_TRANSFORM_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "kashi/base/work_meter.h"

namespace kashi::internal {

class FftPlan {
 public:
  // length >= 1. Takes O(length) time and memory.
  explicit FftPlan(int64_t length);

  int64_t length() const { return length_; }
  // The number of doubles that Transform needs as workspace.
  int64_t WorkspaceSize(int64_t lanes) const;

  // In place. The inverse transform, without its factor 1/n, is the transform with `re` and `im` swapped. May be called
  // from several threads, each with its own arrays.
  void Transform(double* re, double* im, int64_t lanes, double* workspace,
                 StopFunction is_stopped = NeverStopped) const;

 private:
  void TransformByFactors(double* re, double* im, int64_t lanes, double* workspace, StopFunction is_stopped) const;
  void TransformByConvolution(double* re, double* im, int64_t lanes, double* workspace, StopFunction is_stopped) const;
  void RunStage(int radix, int64_t m, int64_t stride, int64_t lanes, const double* in_re, const double* in_im,
                double* out_re, double* out_im) const;

  int64_t length_;
  std::vector<int> radices_;               // their product is length_; empty for convolutions and length 1
  std::vector<double> root_re_, root_im_;  // e^(-2 pi i j / length)

  // Only for convolutions: x[j] times chirp[j] = e^(-pi i j^2 / n), convolved with 1 / chirp, times chirp.
  std::unique_ptr<FftPlan> convolution_;
  std::vector<double> chirp_re_, chirp_im_;
  std::vector<double> filter_re_, filter_im_;  // the transform of 1 / chirp, divided by its length
};

}  // namespace kashi::internal

#endif  // KASHI_EVALUATOR_FFT_TRANSFORM_H_
