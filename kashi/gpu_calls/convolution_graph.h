// The operations that follow a convolution in a graph of cuDNN, as XLA writes it into serialized_graph:
//
//   15:[f32]conv();17:[f32]scale(15);19:[f32]relu(17);21:[f8e4m3fn]scale(19);23:[f32]amax(19);
//
// Each has a number, the type of its result, a name and the numbers of its operands. What an operation needs beside
// these is the next operand of the call: the scale of `scale` and `invscale`, the other term of `add`. The results are
// the last operation that is no amax, and then each amax.
#ifndef KASHI_GPU_CALLS_CONVOLUTION_GRAPH_H_
#define KASHI_GPU_CALLS_CONVOLUTION_GRAPH_H_

#include <cstdint>

#include "kashi/gpu_calls/call_lowering.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {

// Operands of a call that are those of its graph.
inline constexpr int64_t kMostGraphOperands = 64;

// The results of the call, where its convolution has given y. INVALID_ARGUMENT: the text is no graph, or its operands
// are not those of the call. UNIMPLEMENTED: an operation that is not known.
Results LowerGraphAfter(CallLowering* lowering, XlaOp y);

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_CONVOLUTION_GRAPH_H_
