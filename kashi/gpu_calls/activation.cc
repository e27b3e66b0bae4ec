#include "kashi/gpu_calls/activation.h"

#include <cmath>

namespace kashi::gpu_calls {
namespace {

// x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))
XlaOp GeluByTanh(CallLowering* lowering, PrimitiveType type, XlaOp x) {
  const auto constant = [&](double value) { return lowering->Constant(type, value); };
  const XlaOp inner = Mul(constant(std::sqrt(2 / M_PI)), Add(x, Mul(constant(0.044715), Mul(x, Mul(x, x)))));
  return Mul(Mul(constant(0.5), x), Add(constant(1), Tanh(inner)));
}

// x/2 * (1 + erf(x / sqrt(2)))
XlaOp GeluByErf(CallLowering* lowering, PrimitiveType type, XlaOp x) {
  const auto constant = [&](double value) { return lowering->Constant(type, value); };
  return Mul(Mul(constant(0.5), x), Add(constant(1), Erf(Mul(x, constant(std::sqrt(0.5))))));
}

}  // namespace

XlaOp Activate(CallLowering* lowering, Activation activation, PrimitiveType type, double slope, XlaOp x) {
  if (activation == Activation::kNone) return x;
  const XlaOp zero = lowering->Constant(type, 0);
  switch (activation) {
    case Activation::kNone:
      break;
    case Activation::kRelu:
      return Max(x, zero);
    case Activation::kRelu6:
      return Clamp(zero, x, lowering->Constant(type, 6));
    case Activation::kElu:
      return Select(Gt(x, zero), x, Expm1(x));
    case Activation::kLeakyRelu:
      return Select(Gt(x, zero), x, Mul(x, lowering->Constant(type, slope)));
    case Activation::kSigmoid:
      return Logistic(x);
    case Activation::kTanh:
      return Tanh(x);
    case Activation::kGelu:
      return GeluByTanh(lowering, type, x);
    case Activation::kGeluExact:
      return GeluByErf(lowering, type, x);
    case Activation::kSilu:
      return Mul(x, Logistic(x));
  }
  return x;
}

}  // namespace kashi::gpu_calls
