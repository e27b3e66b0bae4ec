// The meaning of each call: a function for each name in the column `meaning` of gpu_calls.def. It gives the results in
// order, without scratch memory; with LoweredPart::kProducts, the products. Below, [x] may be missing.
#ifndef KASHI_GPU_CALLS_LOWER_CALL_H_
#define KASHI_GPU_CALLS_LOWER_CALL_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kashi/gpu_calls/call_lowering.h"
#include "kashi/hlo/builder/xla_builder.h"

namespace kashi::gpu_calls {

using Results = absl::StatusOr<std::vector<XlaOp>>;

// ---- lower_gemm.cc. The config has alpha, beta, the dimension numbers of a b, and the epilogue.

// (a, b[, c][, bias]) -> (d[, aux]): d = f(alpha a b + beta c + bias); aux is the argument of f. c is there if beta is
// not 0; bias and f are those of the epilogue.
Results LowerGemm(CallLowering* lowering);
// (a, b[, c], a scale, b scale[, bias][, d scale]) -> (d[, largest]):
//   d = d scale * f(alpha * a scale * b scale * a b + beta c + bias); largest is the largest absolute value of f(…).
// Until 2024: (a, b[, c], a scale, b scale, c scale, d scale[, bias]).
Results LowerScaledGemm(CallLowering* lowering);

// ---- lower_convolution.cc. Window and dimension labels are those of the forward convolution of x with w, also where
// its gradients are computed.

// (x, w) -> y = scale * convolution(x, w)
Results LowerConvolutionForward(CallLowering* lowering);
// (dy, w) -> dx
Results LowerConvolutionBackwardInput(CallLowering* lowering);
// (x, dy) -> dw
Results LowerConvolutionBackwardFilter(CallLowering* lowering);
// (x, w, bias[, side]) -> y = f(scale * convolution(x, w) + side scale * side + bias)
Results LowerConvolutionBiasActivation(CallLowering* lowering);
// (x, w, operands of the graph…) -> (y[, largest…]): the operations that the config's serialized_graph lists.
Results LowerConvolutionGraph(CallLowering* lowering);

// ---- lower_norm.cc: layer norm over all dimensions of x but the first.

// By the config's kind:
//   LAYER_FWD_INFER   (x, scale, bias) -> y
//   LAYER_FWD_TRAIN   (x, scale, bias) -> (y, mean, 1 / standard deviation)
//   LAYER_BWD         (x, scale, dy, mean, 1 / standard deviation) -> (dx, dscale, dbias)
Results LowerNorm(CallLowering* lowering);

// ---- lower_attention.cc: softmax(scale q k + bias) v for each batch and head, under a mask.

// (q, k, v[, bias][, lengths of q, lengths of k]) -> (o[, log of the sums of exponentials])
Results LowerAttention(CallLowering* lowering);
// (q, k, v, log of the sums, do[, bias], o[, lengths of q, lengths of k]) -> (dq, dk, dv[, dbias])
Results LowerAttentionBackward(CallLowering* lowering);
// The same in 8 bits, with scales: only the products are known.
Results LowerNarrowAttention(CallLowering* lowering);
Results LowerNarrowAttentionBackward(CallLowering* lowering);

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_LOWER_CALL_H_
