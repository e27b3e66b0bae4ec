// The functions that libraries apply to each element of a product or a convolution.
#ifndef KASHI_GPU_CALLS_ACTIVATION_H_
#define KASHI_GPU_CALLS_ACTIVATION_H_

#include "kashi/array/primitive_util.h"
#include "kashi/gpu_calls/call_lowering.h"
#include "kashi/hlo/builder/xla_builder.h"

namespace kashi::gpu_calls {

enum class Activation { kNone, kRelu, kRelu6, kElu, kLeakyRelu, kSigmoid, kTanh, kGelu, kGeluExact, kSilu };

// kGelu is the approximation by tanh. `slope` is that of kLeakyRelu below 0. Pre: `type` is that of x, a
// floating-point type.
XlaOp Activate(CallLowering* lowering, Activation activation, PrimitiveType type, double slope, XlaOp x);

}  // namespace kashi::gpu_calls

#endif  // KASHI_GPU_CALLS_ACTIVATION_H_
