// Linear algebra, Fourier transform, normalisation, random numbers (docs/spec/hlo-ops.md 10.3): an instruction each.
#include "kashi/array/primitive_util.h"
#include "kashi/hlo/builder/xla_lowering.h"

namespace kashi {

using hlo::Inferred;
using hlo::Lower;
using hlo::LowerInferred;
using hlo::NodeOr;
using hlo::Nodes;
using hlo::XlaLowering;
namespace {

XlaOp Rng(RandomDistribution distribution, XlaOp first, XlaOp second, const Shape& shape) {
  return Lower({first, second},
               [&](XlaLowering& to, Nodes x) { return to.Add(HloInstruction::CreateRng(shape, distribution, x)); });
}

// Random bits are unsigned integers as wide as the requested type.
absl::Status MakeUnsigned(Shape* shape) {
  if (!shape->IsArray()) return InvalidArgument("random bits cannot be %s", ShapeUtil::HumanString(*shape));
  const int width = primitive_util::BitWidth(shape->element_type());
  if (width != 8 && width != 16 && width != 32 && width != 64) {
    return InvalidArgument("Unsupported random bit type %s", ShapeUtil::HumanString(*shape));
  }
  shape->set_element_type(primitive_util::UnsignedIntegralTypeForBitWidth(width));
  return absl::OkStatus();
}

}  // namespace

XlaOp Fft(XlaOp operand, FftType fft_type, absl::Span<const int64_t> fft_length) {
  return LowerInferred({operand},
                       [&](Nodes x) { return HloInstruction::CreateFft(Inferred(), x[0], fft_type, fft_length); });
}

XlaOp TriangularSolve(XlaOp a, XlaOp b, bool left_side, bool lower, bool unit_diagonal,
                      TriangularSolveOptions::Transpose transpose_a) {
  TriangularSolveOptions options;
  options.set_left_side(left_side);
  options.set_lower(lower);
  options.set_unit_diagonal(unit_diagonal);
  options.set_transpose_a(transpose_a);
  return LowerInferred({a, b},
                       [&](Nodes x) { return HloInstruction::CreateTriangularSolve(Inferred(), x[0], x[1], options); });
}

XlaOp Cholesky(XlaOp a, bool lower) {
  CholeskyOptions options;
  options.set_lower(lower);
  return LowerInferred({a}, [&](Nodes x) { return HloInstruction::CreateCholesky(Inferred(), x[0], options); });
}

XlaOp BatchNormTraining(XlaOp operand, XlaOp scale, XlaOp offset, float epsilon, int64_t feature_index) {
  return LowerInferred({operand, scale, offset}, [&](Nodes x) {
    return HloInstruction::CreateBatchNormTraining(Inferred(), x[0], x[1], x[2], epsilon, feature_index);
  });
}

XlaOp BatchNormInference(XlaOp operand, XlaOp scale, XlaOp offset, XlaOp mean, XlaOp variance, float epsilon,
                         int64_t feature_index) {
  return LowerInferred({operand, scale, offset, mean, variance}, [&](Nodes x) {
    return HloInstruction::CreateBatchNormInference(Inferred(), x[0], x[1], x[2], x[3], x[4], epsilon, feature_index);
  });
}

XlaOp BatchNormGrad(XlaOp operand, XlaOp scale, XlaOp batch_mean, XlaOp batch_var, XlaOp grad_output, float epsilon,
                    int64_t feature_index) {
  return LowerInferred({operand, scale, batch_mean, batch_var, grad_output}, [&](Nodes x) {
    return HloInstruction::CreateBatchNormGrad(Inferred(), x[0], x[1], x[2], x[3], x[4], epsilon, feature_index);
  });
}

XlaOp RngNormal(XlaOp mu, XlaOp sigma, const Shape& shape) { return Rng(RNG_NORMAL, mu, sigma, shape); }
XlaOp RngUniform(XlaOp a, XlaOp b, const Shape& shape) { return Rng(RNG_UNIFORM, a, b, shape); }

XlaOp RngBitGenerator(RandomAlgorithm algorithm, XlaOp initial_state, const Shape& shape) {
  return Lower({initial_state}, [&](XlaLowering& to, Nodes x) -> NodeOr {
    Shape bits = shape;
    KASHI_RETURN_IF_ERROR(MakeUnsigned(&bits));
    const Shape result = ShapeUtil::MakeTupleShape({x[0]->shape(), bits});
    return to.Add(HloInstruction::CreateRngBitGenerator(result, x[0], algorithm));
  });
}

}  // namespace kashi
