// The dimensions along which the window of a convolution moves, and where its elements meet elements of the input.
#ifndef KASHI_KERNELS_CONVOLUTION_AXIS_H_
#define KASHI_KERNELS_CONVOLUTION_AXIS_H_

#include <cstdint>

namespace kashi::kernels {

// Window attributes may be any numbers; results computed from them fit 64 bits only if they lie in an array.
using WideInteger = __int128;
inline WideInteger FloorDivide(WideInteger a, WideInteger b) { return a / b - (a % b < 0 ? 1 : 0); }
inline WideInteger CeilDivide(WideInteger a, WideInteger b) { return -FloorDivide(-a, b); }

// A dimension along which the window moves: spatial, or the batch with a window of size 1. Strides are those of the
// dense arrays.
struct ConvolutionAxis {
  int64_t lhs_size = 0, lhs_stride = 0;
  int64_t window_size = 1, rhs_stride = 0;
  int64_t out_size = 0, out_stride = 0;
  int64_t stride = 1, padding_low = 0, window_dilation = 1, base_dilation = 1;
};

// The i-th of `count` steps adds to out[out_begin + i * out_step] the product of lhs[lhs_begin + i * lhs_step] and
// rhs[window_begin]. If window_count is not 1, it adds the products of this number of elements, which are contiguous in
// lhs and in rhs from there on.
struct Meeting {
  int64_t window_begin, window_count;
  int64_t out_begin, out_step;
  int64_t lhs_begin, lhs_step;
  int64_t count;
};

struct PlaceRange {
  int64_t begin, end;
};

// The steps with which element w of the window makes something of the range of out. None: a count of 0.
Meeting MeetingOf(const ConvolutionAxis& axis, int64_t w, PlaceRange out);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_CONVOLUTION_AXIS_H_
