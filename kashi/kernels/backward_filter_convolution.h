// Convolutions whose window is larger than their result: gradients of filters, where the window is the gradient of
// an image. Each element of the result is a sum over all places of the window, so products of matrices go along the
// window:
//
//   pack lhs in tiles of rows n, rhs in panels of outputs o, for each place          threads share the places
//   for each stretch of places that stays in L2:
//     for each place s of the result, each panel of rhs, each tile of lhs:           threads share s and the panels
//       for each row of the window in the stretch, where it meets the image at s:
//         out[s, n, o] += sum over that row's places w of lhs[i, s * stride + w * dilation - padding, n] * rhs[i, w, o]
//
// Nothing outside the image is read or multiplied, as it would be if the image were padded.
#ifndef KASHI_KERNELS_BACKWARD_FILTER_CONVOLUTION_H_
#define KASHI_KERNELS_BACKWARD_FILTER_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kashi/base/work_meter.h"
#include "kashi/kernels/convolution_axis.h"

namespace kashi::kernels {

struct BackwardFilterConvolution {
  std::vector<ConvolutionAxis> axes;  // spatial ones, slowest first; strides are not used
  int64_t inputs;                     // i: a dimension that is summed up, besides the window
  int64_t rows;                       // n
  int64_t outputs;                    // o

  // Whether the way above is faster than one product for each place of the window.
  bool IsWorthIt() const;
};

// lhs [i, x..., n], rhs [i, w..., o], out [s..., n, o]: dense arrays; out is zeros. Ends early with the error of
// check_stopped(). False, and nothing happens, if there is no memory for packed operands. T: float, double, uint32_t,
// uint64_t.
template <typename T>
[[nodiscard]] absl::StatusOr<bool> RunBackwardFilterConvolution(const BackwardFilterConvolution& convolution,
                                                                const T* lhs, const T* rhs, T* out,
                                                                StopFunction check_stopped);

}  // namespace kashi::kernels

#endif  // KASHI_KERNELS_BACKWARD_FILTER_CONVOLUTION_H_
