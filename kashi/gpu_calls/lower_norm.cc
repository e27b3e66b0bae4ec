// Layer norm by cuDNN. The compiler gives it x as [rows, normalized dimensions…], with 1s at the end, and a scale and a
// bias of [1, normalized dimensions…].
//
//   y = (x - mean) * factor * scale + bias,    factor = 1 / sqrt(variance + epsilon)
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/gpu_calls/lower_call.h"

namespace kashi::gpu_calls {
namespace {

class LayerNorm {
 public:
  explicit LayerNorm(CallLowering* lowering) : lowering_(*lowering), x_shape_(lowering->operand_shape(0)) {
    type_ = ComputeType(x_shape_.element_type(), x_shape_.element_type());
    for (int64_t d = 1; d < x_shape_.dimensions_size(); ++d) normalized_.push_back(d);
    for (const int64_t d : normalized_) count_ *= static_cast<double>(x_shape_.dimensions(static_cast<int>(d)));
  }

  // y, and for training the mean and the factor.
  Results Forward(double epsilon, bool trains) {
    const XlaOp x = lowering_.OperandAs(0, type_);
    const XlaOp mean = Mean(x), centered = Sub(x, mean);
    const XlaOp factor = Rsqrt(kashi::Add(Mean(Mul(centered, centered)), lowering_.Constant(type_, epsilon)));
    const XlaOp y =
        kashi::Add(Mul(Mul(centered, factor), lowering_.OperandAs(1, type_)), lowering_.OperandAs(2, type_));
    return trains ? Narrow({y, mean, factor}) : Narrow({y});
  }

  // With n = (x - mean) * factor and g = scale * dy: dx = factor * (g - mean(g) - n * mean(g n)), dscale and dbias the
  // sums of n dy and dy over the rows.
  Results Backward() {
    const XlaOp scale = lowering_.OperandAs(1, type_), dy = lowering_.OperandAs(2, type_);
    const XlaOp factor = lowering_.OperandAs(4, type_);
    const XlaOp n = Mul(Sub(lowering_.OperandAs(0, type_), lowering_.OperandAs(3, type_)), factor);
    const XlaOp g = Mul(scale, dy);
    const XlaOp dx = Mul(factor, Sub(Sub(g, Mean(g)), Mul(n, Mean(Mul(g, n)))));
    return Narrow({dx, SumOfRows(Mul(n, dy)), SumOfRows(dy)});
  }

 private:
  // Along the normalized dimensions, which stay as dimensions of size 1.
  XlaOp Mean(XlaOp x) {
    std::vector<int64_t> sizes(x_shape_.dimensions_size(), 1);
    sizes[0] = x_shape_.dimensions(0);
    const XlaOp sum = Reshape(lowering_.Sum(x, type_, normalized_), sizes);
    return Mul(sum, lowering_.Constant(type_, count_ == 0 ? 0 : 1 / count_));
  }
  XlaOp SumOfRows(XlaOp x) {
    std::vector<int64_t> sizes(x_shape_.dimensions().begin(), x_shape_.dimensions().end());
    sizes[0] = 1;
    return Reshape(lowering_.Sum(x, type_, {0}), sizes);
  }
  Results Narrow(std::vector<XlaOp> results) {
    const auto count = static_cast<int64_t>(results.size());
    KASHI_RETURN_IF_ERROR(lowering_.ExpectResults(count, count));
    for (int64_t i = 0; i < count; ++i) results[i] = lowering_.ToResult(results[i], i);
    return results;
  }

  CallLowering& lowering_;
  const Shape& x_shape_;
  PrimitiveType type_;
  std::vector<int64_t> normalized_;
  double count_ = 1;
};

}  // namespace

Results LowerNorm(CallLowering* lowering) {
  const CallConfig& config = lowering->config();
  KASHI_ASSIGN_OR_RETURN(const std::string kind, config.Text("kind", "LAYER_FWD_INFER"));
  const bool is_backward = kind == "LAYER_BWD", trains = kind == "LAYER_FWD_TRAIN";
  if (!is_backward && !trains && kind != "LAYER_FWD_INFER")
    return config.Unknown("kind", absl::StrCat("\"", kind, "\" is not known"));
  KASHI_RETURN_IF_ERROR(is_backward ? lowering->ExpectOperands(5, 5) : lowering->ExpectOperands(3, 3));
  if (lowering->operand_shape(0).dimensions_size() < 2) return lowering->Wrong("x has fewer than two dimensions");
  LayerNorm norm(lowering);
  if (is_backward) return norm.Backward();
  KASHI_ASSIGN_OR_RETURN(const double epsilon, config.Number("epsilon"));
  return norm.Forward(epsilon, trains);
}

}  // namespace kashi::gpu_calls
