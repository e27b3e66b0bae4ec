#include "kashi/kernels/convolution_axis.h"

#include <algorithm>
#include <utility>

namespace kashi::kernels {
namespace {

int64_t GreatestCommonDivisor(int64_t a, int64_t b) { return b == 0 ? a : GreatestCommonDivisor(b, a % b); }

// x with a * x = 1 modulo m; a and m have no common divisor. Euclid's algorithm.
WideInteger Inverse(WideInteger a, WideInteger m) {
  WideInteger r0 = m, r1 = a % m, x0 = 0, x1 = 1;
  while (r1 != 0) {
    const WideInteger quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    x0 = std::exchange(x1, x0 - quotient * x1);
  }
  return x0 < 0 ? x0 + m : x0;
}

}  // namespace

Meeting MeetingOf(const ConvolutionAxis& axis, int64_t w, PlaceRange out) {
  // Position p = s * stride + shift, in the dilated lhs, must be in [0, (lhs_size - 1) * base_dilation] and a
  // multiple of base_dilation; so shift must be a multiple of the divisor, and s must equal `first` modulo `step`.
  Meeting meeting{w, 1, 0, 1, 0, 1, 0};
  const WideInteger shift = WideInteger{w} * axis.window_dilation - axis.padding_low;
  const int64_t divisor = GreatestCommonDivisor(axis.stride, axis.base_dilation);
  const WideInteger step = axis.base_dilation / divisor;
  if (axis.lhs_size == 0 || shift % divisor != 0) return meeting;
  const WideInteger last_position = WideInteger{axis.lhs_size - 1} * axis.base_dilation;
  WideInteger begin = std::max<WideInteger>(out.begin, CeilDivide(-shift, axis.stride));
  const WideInteger end = std::min<WideInteger>(out.end, FloorDivide(last_position - shift, axis.stride) + 1);
  if (step > 1) {
    const WideInteger residue = (-(shift / divisor) % step + step) % step;
    const WideInteger first = residue * Inverse(axis.stride / divisor, step) % step;
    begin += ((first - begin) % step + step) % step;
  }
  if (begin >= end) return meeting;
  meeting.out_begin = static_cast<int64_t>(begin);
  meeting.lhs_begin = static_cast<int64_t>((begin * axis.stride + shift) / axis.base_dilation);
  meeting.count = static_cast<int64_t>((end - begin - 1) / step + 1);
  // A single step needs no distance to the next one, which might overflow.
  if (meeting.count > 1) {
    meeting.out_step = static_cast<int64_t>(step);
    meeting.lhs_step = axis.stride / divisor;
  }
  return meeting;
}

}  // namespace kashi::kernels
