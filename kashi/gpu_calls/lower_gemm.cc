// Products of matrices by cuBLAS and cuBLASLt.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/activation.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {
namespace {

// What follows a product: the bias is added, and then a function is applied. With aux, its argument is a result, too.
struct Epilogue {
  absl::string_view name;
  bool has_bias;
  Activation activation;
  bool has_aux;
};

constexpr Epilogue kEpilogues[] = {
    {"DEFAULT", false, Activation::kNone, false},  {"RELU", false, Activation::kRelu, false},
    {"GELU", false, Activation::kGelu, false},     {"GELU_AUX", false, Activation::kGelu, true},
    {"SILU", false, Activation::kSilu, false},     {"SILU_AUX", false, Activation::kSilu, true},
    {"BIAS", true, Activation::kNone, false},      {"BIAS_RELU", true, Activation::kRelu, false},
    {"BIAS_GELU", true, Activation::kGelu, false}, {"BIAS_GELU_AUX", true, Activation::kGelu, true},
    {"BIAS_SILU", true, Activation::kSilu, false}, {"BIAS_SILU_AUX", true, Activation::kSilu, true},
};

struct GemmConfig {
  DotDimensionNumbers dimensions;
  double alpha_real, alpha_imag, beta;
  const Epilogue* epilogue = nullptr;
  bool has_largest = false;

  bool has_c() const { return beta != 0; }
  int64_t bias_count() const { return epilogue->has_bias ? 1 : 0; }
};

absl::StatusOr<GemmConfig> ReadGemm(const CallLowering& lowering) {
  const CallConfig& config = lowering.config();
  GemmConfig gemm;
  KASHI_ASSIGN_OR_RETURN(gemm.dimensions, config.DotDimensions("dot_dimension_numbers"));
  KASHI_ASSIGN_OR_RETURN(gemm.alpha_real, config.Number("alpha_real"));
  KASHI_ASSIGN_OR_RETURN(gemm.alpha_imag, config.Number("alpha_imag", 0));
  KASHI_ASSIGN_OR_RETURN(gemm.beta, config.Number("beta", 0));
  KASHI_ASSIGN_OR_RETURN(gemm.has_largest, config.Bool("damax_output", false));
  KASHI_ASSIGN_OR_RETURN(const std::string epilogue, config.Text("epilogue", "DEFAULT"));
  const auto* const found = absl::c_find_if(kEpilogues, [&](const Epilogue& row) { return row.name == epilogue; });
  if (found != std::end(kEpilogues)) {
    gemm.epilogue = found;
  } else if (lowering.only_products()) {
    gemm.epilogue = &kEpilogues[0];
  } else {
    return config.Unknown("epilogue", absl::StrCat("\"", epilogue, "\" is not known"));
  }
  return gemm;
}

// alpha a b, in the type in which it is computed.
XlaOp ScaledProduct(CallLowering* lowering, const GemmConfig& gemm, PrimitiveType type) {
  XlaOp a = lowering->operand(0), b = lowering->operand(1);
  const PrimitiveType a_type = lowering->operand_shape(0).element_type();
  const bool has_one_type = a_type == lowering->operand_shape(1).element_type();
  // A dot of integers with a floating-point result, and one of two types, is no plain one.
  if (!has_one_type || (primitive_util::IsIntegralType(a_type) && !primitive_util::IsIntegralType(type))) {
    a = ConvertElementType(a, type);
    b = ConvertElementType(b, type);
  }
  const XlaOp product = DotGeneral(a, b, gemm.dimensions, /*precision_config=*/nullptr, type);
  if (lowering->only_products()) return product;
  if (!primitive_util::IsComplexType(type)) return lowering->Scale(product, type, gemm.alpha_real);
  const PrimitiveType part = primitive_util::ComplexComponentType(type);
  const XlaOp alpha = Complex(lowering->Constant(part, gemm.alpha_real), lowering->Constant(part, gemm.alpha_imag));
  return gemm.alpha_real == 1 && gemm.alpha_imag == 0 ? product : Mul(product, alpha);
}

// The bias has the dimensions of the result that are the most minor ones in memory, in the same order.
//
//   f32[48]{0} for f32[32,48]{1,0}: dimension 1            f32[32]{0} for f32[32,48]{0,1}: dimension 0
absl::StatusOr<XlaOp> AddBias(CallLowering* lowering, XlaOp x, int64_t operand, PrimitiveType type) {
  const Shape &bias = lowering->operand_shape(operand), &result = lowering->result(0);
  const int64_t rank = bias.dimensions_size();
  if (rank > result.dimensions_size()) return lowering->Wrong("the bias has more dimensions than the result");
  const auto minor = [](const Shape& array, int64_t i) -> int64_t {
    return array.has_layout() ? array.layout().minor_to_major(static_cast<int>(i)) : array.dimensions_size() - 1 - i;
  };
  std::vector<int64_t> dimensions(rank);
  for (int64_t i = 0; i < rank; ++i) dimensions[minor(bias, i)] = minor(result, i);
  if (!absl::c_is_sorted(dimensions)) return lowering->Unknown("the dimensions of the bias are transposed");
  const std::vector<int64_t> sizes(result.dimensions().begin(), result.dimensions().end());
  return Add(x, BroadcastInDim(lowering->OperandAs(operand, type), sizes, dimensions));
}

absl::Status CheckAlpha(const CallLowering& lowering, const GemmConfig& gemm, PrimitiveType type) {
  if (gemm.alpha_imag != 0 && !primitive_util::IsComplexType(type))
    return lowering.config().Wrong("alpha_imag", "is not 0, but the product is not complex");
  const bool is_integral = std::trunc(gemm.alpha_real) == gemm.alpha_real && std::trunc(gemm.beta) == gemm.beta;
  const bool fits = std::abs(gemm.alpha_real) < 0x1p31 && std::abs(gemm.beta) < 0x1p31;
  if (primitive_util::IsIntegralType(type) && !(is_integral && fits))
    return lowering.config().Wrong("alpha_real", "or beta is no 32-bit integer, but the product is one of integers");
  return absl::OkStatus();
}

// Which operand is which; -1: none.
struct GemmOperands {
  int64_t c = -1, a_scale = -1, b_scale = -1, c_scale = -1, d_scale = -1, bias = -1;
};

Results FinishGemm(CallLowering* lowering, const GemmConfig& gemm, const GemmOperands& at, XlaOp product,
                   PrimitiveType type) {
  KASHI_RETURN_IF_ERROR(CheckAlpha(*lowering, gemm, type));
  XlaOp sum = product;
  const auto scale_by = [&](XlaOp x, int64_t operand) {
    return operand < 0 ? x : Mul(x, Reshape(lowering->OperandAs(operand, type), {}));
  };
  sum = scale_by(scale_by(sum, at.a_scale), at.b_scale);
  if (at.c >= 0) {
    const XlaOp c = scale_by(lowering->OperandAs(at.c, type), at.c_scale);
    sum = Add(sum, lowering->Scale(c, type, gemm.beta));
  }
  if (at.bias >= 0) {
    KASHI_ASSIGN_OR_RETURN(sum, AddBias(lowering, sum, at.bias, type));
  }
  if (gemm.epilogue->activation != Activation::kNone && !primitive_util::IsFloatingPointType(type))
    return lowering->Unknown("an activation of numbers that are not real");
  const XlaOp activated = Activate(lowering, gemm.epilogue->activation, type, /*slope=*/0, sum);
  std::vector<XlaOp> results = {scale_by(activated, at.d_scale)};
  if (gemm.epilogue->has_aux) results.push_back(sum);
  if (gemm.has_largest) results.push_back(lowering->LargestAbsolute(activated, type));
  const auto count = static_cast<int64_t>(results.size());
  KASHI_RETURN_IF_ERROR(lowering->ExpectResults(count, count));
  for (int64_t i = 0; i < count; ++i) results[i] = lowering->ToResult(results[i], i);
  return results;
}

bool IsScalar(const CallLowering& lowering, int64_t operand) {
  return ShapeUtil::ElementsIn(lowering.operand_shape(operand)) == 1;
}

// Until 2024, there were a scale of c and one of d in each call; now there is one of d only for results of 8 bits.
absl::StatusOr<GemmOperands> OperandsOfScaled(const CallLowering& lowering, const GemmConfig& gemm) {
  const int64_t matrices = gemm.has_c() ? 3 : 2, bias = gemm.bias_count();
  KASHI_RETURN_IF_ERROR(lowering.ExpectOperands(matrices + 2 + bias, matrices + 4 + bias));
  GemmOperands at;
  at.c = gemm.has_c() ? 2 : -1;
  at.a_scale = matrices;
  at.b_scale = matrices + 1;
  const int64_t rest = lowering.operand_count() - matrices - 2 - bias;
  if (rest == 2) {
    at.c_scale = matrices + 2;
    at.d_scale = matrices + 3;
    if (bias > 0) at.bias = matrices + 4;
  } else {
    if (bias > 0) at.bias = matrices + 2;
    if (rest == 1) at.d_scale = matrices + 2 + bias;
  }
  for (const int64_t scale : {at.a_scale, at.b_scale, at.c_scale, at.d_scale}) {
    if (scale >= 0 && !IsScalar(lowering, scale))
      return lowering.Unknown(absl::StrCat("operand ", scale, " is no scalar: scales of blocks"));
  }
  return at;
}

}  // namespace

Results LowerGemm(CallLowering* lowering) {
  KASHI_ASSIGN_OR_RETURN(const GemmConfig gemm, ReadGemm(*lowering));
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(2, 4));
  const PrimitiveType type = ComputeType(lowering->operand_shape(0).element_type(), lowering->result(0).element_type());
  const XlaOp product = ScaledProduct(lowering, gemm, type);
  if (lowering->only_products()) return std::vector<XlaOp>{product};
  const int64_t count = 2 + (gemm.has_c() ? 1 : 0) + gemm.bias_count();
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(count, count));
  GemmOperands at;
  if (gemm.has_c()) at.c = 2;
  if (gemm.epilogue->has_bias) at.bias = count - 1;
  return FinishGemm(lowering, gemm, at, product, type);
}

Results LowerScaledGemm(CallLowering* lowering) {
  KASHI_ASSIGN_OR_RETURN(const GemmConfig gemm, ReadGemm(*lowering));
  KASHI_RETURN_IF_ERROR(lowering->ExpectOperands(4, 8));
  const PrimitiveType type = ComputeType(lowering->operand_shape(0).element_type(), lowering->result(0).element_type());
  const XlaOp product = ScaledProduct(lowering, gemm, type);
  if (lowering->only_products()) return std::vector<XlaOp>{product};
  KASHI_ASSIGN_OR_RETURN(const int64_t scale_mode, lowering->config().Integer("scale_mode", 1));
  if (scale_mode > 1) return lowering->config().Unknown("scale_mode", absl::StrCat(scale_mode, " is not known"));
  KASHI_ASSIGN_OR_RETURN(const GemmOperands at, OperandsOfScaled(*lowering, gemm));
  return FinishGemm(lowering, gemm, at, product, type);
}

}  // namespace kashi::gpu_calls
