#include "kashi/evaluator/fft_transform.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kashi/base/check.h"

namespace kashi::internal {
namespace {

constexpr int kLargestRadix = 13;

struct Root {
  double re, im;
};

// e^(-2 pi i j / n) for 0 <= j < n. The angle is reduced to the first eighth of a turn, where sine and cosine are most
// precise. So roots that mirror each other have equal numbers, and roots on the axes are exact.
Root UnitRoot(int64_t j, int64_t n) {
  if (2 * j > n) {
    const Root mirror = UnitRoot(n - j, n);  // of the whole turn
    return {mirror.re, -mirror.im};
  }
  if (4 * j > n) {
    const Root mirror = UnitRoot(n - 2 * j, 2 * n);  // of the half turn
    return {-mirror.re, mirror.im};
  }
  if (8 * j > n) {
    const Root mirror = UnitRoot(n - 4 * j, 4 * n);  // of the quarter turn
    return {-mirror.im, -mirror.re};
  }
  const double angle = 2 * M_PI * (static_cast<double>(j) / static_cast<double>(n));
  return {std::cos(angle), -std::sin(angle)};
}

void FillRoots(int64_t n, std::vector<double>& re, std::vector<double>& im) {
  re.resize(n);
  im.resize(n);
  for (int64_t j = 0; j < n; ++j) {
    const Root root = UnitRoot(j, n);
    re[j] = root.re;
    im[j] = root.im;
  }
}

// Empty if a prime is too large.
std::vector<int> Factors(int64_t n) {
  std::vector<int> factors;
  for (int radix : {4, 2, 3, 5, 7, 11, kLargestRadix}) {
    for (; n % radix == 0; n /= radix) factors.push_back(radix);
  }
  return n == 1 ? factors : std::vector<int>();
}

// One butterfly on `count` neighbours at once: inputs r at in + r * in_step, outputs t at out + t * out_step, output
// t times w[t]. `count` is the stride times the lanes.
struct Butterfly {
  const double* in_re;
  const double* in_im;
  int64_t in_step;
  double* out_re;
  double* out_im;
  int64_t out_step;
  int64_t count;
  const Root* w;
};

inline void Store(const Butterfly& b, int t, int64_t q, double re, double im) {
  b.out_re[t * b.out_step + q] = re * b.w[t].re - im * b.w[t].im;
  b.out_im[t * b.out_step + q] = re * b.w[t].im + im * b.w[t].re;
}

void Radix2(const Butterfly& b) {
  for (int64_t q = 0; q < b.count; ++q) {
    const double a_re = b.in_re[q], a_im = b.in_im[q];
    const double c_re = b.in_re[q + b.in_step], c_im = b.in_im[q + b.in_step];
    b.out_re[q] = a_re + c_re;
    b.out_im[q] = a_im + c_im;
    Store(b, 1, q, a_re - c_re, a_im - c_im);
  }
}

void Radix4(const Butterfly& b) {
  const double* const __restrict in_re = b.in_re;
  const double* const __restrict in_im = b.in_im;
  double* const __restrict out_re = b.out_re;
  double* const __restrict out_im = b.out_im;
  const Root w1 = b.w[1], w2 = b.w[2], w3 = b.w[3];
  const int64_t in = b.in_step, out = b.out_step;
  for (int64_t q = 0; q < b.count; ++q) {
    const double even_re = in_re[q] + in_re[q + 2 * in], even_im = in_im[q] + in_im[q + 2 * in];
    const double half_re = in_re[q] - in_re[q + 2 * in], half_im = in_im[q] - in_im[q + 2 * in];
    const double odd_re = in_re[q + in] + in_re[q + 3 * in], odd_im = in_im[q + in] + in_im[q + 3 * in];
    const double turn_re = in_im[q + in] - in_im[q + 3 * in], turn_im = in_re[q + 3 * in] - in_re[q + in];
    out_re[q] = even_re + odd_re;
    out_im[q] = even_im + odd_im;
    const double t1_re = half_re + turn_re, t1_im = half_im + turn_im;
    const double t2_re = even_re - odd_re, t2_im = even_im - odd_im;
    const double t3_re = half_re - turn_re, t3_im = half_im - turn_im;
    out_re[q + out] = t1_re * w1.re - t1_im * w1.im;
    out_im[q + out] = t1_re * w1.im + t1_im * w1.re;
    out_re[q + 2 * out] = t2_re * w2.re - t2_im * w2.im;
    out_im[q + 2 * out] = t2_re * w2.im + t2_im * w2.re;
    out_re[q + 3 * out] = t3_re * w3.re - t3_im * w3.im;
    out_im[q + 3 * out] = t3_re * w3.im + t3_im * w3.re;
  }
}

// An odd prime: inputs r and radix - r are paired, because their factors are conjugates.
template <int kRadix>
void RadixOdd(const Butterfly& b) {
  constexpr int kHalf = kRadix / 2;
  static const auto* const roots = [] {
    auto* made = new Root[kRadix];
    for (int j = 0; j < kRadix; ++j) made[j] = UnitRoot(j, kRadix);
    return made;
  }();
  for (int64_t q = 0; q < b.count; ++q) {
    const double x0_re = b.in_re[q], x0_im = b.in_im[q];
    double sum_re[kHalf], sum_im[kHalf], difference_re[kHalf], difference_im[kHalf];
    double total_re = x0_re, total_im = x0_im;
    for (int r = 0; r < kHalf; ++r) {
      const int64_t one = q + (r + 1) * b.in_step, other = q + (kRadix - 1 - r) * b.in_step;
      sum_re[r] = b.in_re[one] + b.in_re[other];
      sum_im[r] = b.in_im[one] + b.in_im[other];
      difference_re[r] = b.in_re[one] - b.in_re[other];
      difference_im[r] = b.in_im[one] - b.in_im[other];
      total_re += sum_re[r];
      total_im += sum_im[r];
    }
    b.out_re[q] = total_re;
    b.out_im[q] = total_im;
    for (int t = 1; t <= kHalf; ++t) {
      double even_re = x0_re, even_im = x0_im, odd_re = 0, odd_im = 0;
      for (int r = 0; r < kHalf; ++r) {
        const Root& root = roots[t * (r + 1) % kRadix];
        even_re += sum_re[r] * root.re;
        even_im += sum_im[r] * root.re;
        odd_re -= difference_im[r] * root.im;
        odd_im += difference_re[r] * root.im;
      }
      Store(b, t, q, even_re + odd_re, even_im + odd_im);
      Store(b, kRadix - t, q, even_re - odd_re, even_im - odd_im);
    }
  }
}

void RunButterfly(int radix, const Butterfly& b) {
  switch (radix) {
    case 2:
      return Radix2(b);
    case 3:
      return RadixOdd<3>(b);
    case 4:
      return Radix4(b);
    case 5:
      return RadixOdd<5>(b);
    case 7:
      return RadixOdd<7>(b);
    case 11:
      return RadixOdd<11>(b);
    default:
      return RadixOdd<kLargestRadix>(b);
  }
}

}  // namespace

FftPlan::FftPlan(int64_t length) : length_(length), radices_(Factors(length)) {
  KASHI_CHECK(length >= 1);
  if (!radices_.empty() || length == 1) {
    FillRoots(length, root_re_, root_im_);
    return;
  }
  int64_t padded = 1;
  while (padded < 2 * length - 1) padded *= 2;
  convolution_ = std::make_unique<FftPlan>(padded);
  filter_re_.assign(padded, 0);
  filter_im_.assign(padded, 0);
  chirp_re_.resize(length);
  chirp_im_.resize(length);
  int64_t square = 0;  // j^2 modulo 2n
  for (int64_t j = 0; j < length; ++j) {
    const Root root = UnitRoot(square, 2 * length);
    chirp_re_[j] = root.re;
    chirp_im_[j] = root.im;
    filter_re_[j] = filter_re_[(padded - j) % padded] = root.re / static_cast<double>(padded);
    filter_im_[j] = filter_im_[(padded - j) % padded] = -root.im / static_cast<double>(padded);
    square = (square + 2 * j + 1) % (2 * length);
  }
  std::vector<double> workspace(convolution_->WorkspaceSize(1));
  convolution_->Transform(filter_re_.data(), filter_im_.data(), 1, workspace.data());
}

int64_t FftPlan::WorkspaceSize(int64_t lanes) const {
  if (convolution_ == nullptr) return 2 * length_ * lanes;
  return 2 * convolution_->length_ * lanes + convolution_->WorkspaceSize(lanes);
}

void FftPlan::Transform(double* re, double* im, int64_t lanes, double* workspace, StopFunction is_stopped) const {
  if (convolution_ != nullptr) return TransformByConvolution(re, im, lanes, workspace, is_stopped);
  TransformByFactors(re, im, lanes, workspace, is_stopped);
}

// What is left to transform has length `m` after each stage, and that many transforms lie side by side as factors are
// done:
//
//   out[(j radix + t) stride + q] = w^(j t) sum over r of in[(j + m r) stride + q] e^(-2 pi i r t / radix)
//
// for j < m, t < radix, q < stride, with w = e^(-2 pi i / (m radix)).
void FftPlan::TransformByFactors(double* re, double* im, int64_t lanes, double* workspace,
                                 StopFunction is_stopped) const {
  double *in_re = re, *in_im = im, *out_re = workspace, *out_im = workspace + length_ * lanes;
  int64_t stride = 1;
  for (int radix : radices_) {
    if (is_stopped()) return;
    RunStage(radix, length_ / stride / radix, stride, lanes, in_re, in_im, out_re, out_im);
    stride *= radix;
    std::swap(in_re, out_re);
    std::swap(in_im, out_im);
  }
  if (in_re == re) return;
  std::copy_n(in_re, length_ * lanes, re);
  std::copy_n(in_im, length_ * lanes, im);
}

void FftPlan::RunStage(int radix, int64_t m, int64_t stride, int64_t lanes, const double* in_re, const double* in_im,
                       double* out_re, double* out_im) const {
  const int64_t count = stride * lanes;
  Root w[kLargestRadix];
  for (int64_t j = 0; j < m; ++j) {
    for (int t = 0; t < radix; ++t) w[t] = {root_re_[j * t * stride], root_im_[j * t * stride]};
    const int64_t out = j * radix * count;
    RunButterfly(radix, {in_re + j * count, in_im + j * count, m * count, out_re + out, out_im + out, count, count, w});
  }
}

void FftPlan::TransformByConvolution(double* re, double* im, int64_t lanes, double* workspace,
                                     StopFunction is_stopped) const {
  const int64_t padded = convolution_->length_;
  double *a_re = workspace, *a_im = a_re + padded * lanes, *rest = a_im + padded * lanes;
  for (int64_t j = 0; j < length_; ++j) {
    for (int64_t q = j * lanes; q < (j + 1) * lanes; ++q) {
      a_re[q] = re[q] * chirp_re_[j] - im[q] * chirp_im_[j];
      a_im[q] = re[q] * chirp_im_[j] + im[q] * chirp_re_[j];
    }
  }
  std::fill(a_re + length_ * lanes, a_re + padded * lanes, 0.0);
  std::fill(a_im + length_ * lanes, a_im + padded * lanes, 0.0);
  convolution_->Transform(a_re, a_im, lanes, rest, is_stopped);
  for (int64_t j = 0; j < padded; ++j) {
    for (int64_t q = j * lanes; q < (j + 1) * lanes; ++q) {
      const double real = a_re[q] * filter_re_[j] - a_im[q] * filter_im_[j];
      a_im[q] = a_re[q] * filter_im_[j] + a_im[q] * filter_re_[j];
      a_re[q] = real;
    }
  }
  convolution_->Transform(a_im, a_re, lanes, rest, is_stopped);
  for (int64_t j = 0; j < length_; ++j) {
    for (int64_t q = j * lanes; q < (j + 1) * lanes; ++q) {
      re[q] = a_re[q] * chirp_re_[j] - a_im[q] * chirp_im_[j];
      im[q] = a_re[q] * chirp_im_[j] + a_im[q] * chirp_re_[j];
    }
  }
}

}  // namespace kashi::internal
