#include "kashi/insight/matrix_work.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/array/primitive_util.h"
#include "kashi/gpu_calls/gpu_call.h"

namespace kashi::insight {

using analysis::ProductOfSizes;
namespace {

constexpr double kComplexProducts = 4;
constexpr int64_t kSublanes = 8;

PrimitiveType ElementTypeOf(const HloInstruction& operand) {
  return operand.shape().IsArray() ? operand.shape().element_type() : F32;
}

// The wider of the two factors' types.
PrimitiveType FactorType(const HloInstruction& instruction) {
  if (instruction.operand_count() < 2) return F32;
  const PrimitiveType lhs = ElementTypeOf(*instruction.operand(0)), rhs = ElementTypeOf(*instruction.operand(1));
  return primitive_util::BitWidth(rhs) > primitive_util::BitWidth(lhs) ? rhs : lhs;
}

// The first rate that is not 0.
double FirstRate(std::initializer_list<double> rates) {
  for (const double rate : rates) {
    if (rate > 0) return rate;
  }
  return 0;
}

// Passes of one of the units.
struct Passes {
  double rate = 0;  // 0: none
  double count = 1;
};

Passes PassesOfAlgorithm(PrecisionConfig::Algorithm algorithm, const Accelerator& device) {
  const double bf16 = device.matrix_bf16, tf32 = device.matrix_tf32;
  switch (algorithm) {
    case PrecisionConfig::ALG_DOT_BF16_BF16_F32_X3:
      return {bf16, 3};
    case PrecisionConfig::ALG_DOT_BF16_BF16_F32_X6:
      return {bf16, 6};
    case PrecisionConfig::ALG_DOT_BF16_BF16_F32_X9:
      return {bf16, 9};
    case PrecisionConfig::ALG_DOT_BF16_BF16_BF16:
    case PrecisionConfig::ALG_DOT_BF16_BF16_F32:
    case PrecisionConfig::ALG_DOT_F16_F16_F16:
    case PrecisionConfig::ALG_DOT_F16_F16_F32:
      return {bf16};
    case PrecisionConfig::ALG_DOT_TF32_TF32_F32:
      return {tf32};
    case PrecisionConfig::ALG_DOT_TF32_TF32_F32_X3:
      return {tf32, 3};
    case PrecisionConfig::ALG_DOT_F32_F32_F32:
      return device.kind == AcceleratorKind::kTpu ? Passes{bf16, 6} : Passes{device.matrix_f32};
    case PrecisionConfig::ALG_DOT_F64_F64_F64:
      return {device.matrix_f64};
    default:
      return {};
  }
}

PrecisionConfig::Precision HighestPrecision(const PrecisionConfig& config) {
  int highest = PrecisionConfig::DEFAULT;
  for (const auto precision : config.operand_precision()) highest = std::max<int>(highest, precision);
  return static_cast<PrecisionConfig::Precision>(highest);
}

// Of 32 bits and more. A TPU has no unit for f64: this is a lower bound.
Passes PassesOfF32(PrecisionConfig::Precision precision, const Accelerator& device) {
  if (device.kind == AcceleratorKind::kTpu) {
    return {device.matrix_bf16, precision == PrecisionConfig::HIGHEST ? 6.0
                                : precision == PrecisionConfig::HIGH  ? 3
                                                                      : 1};
  }
  if (precision == PrecisionConfig::HIGHEST) return {device.matrix_f32};
  return {FirstRate({device.matrix_tf32, device.matrix_f32})};
}

Passes PassesOfType(PrimitiveType type, PrecisionConfig::Precision precision, const Accelerator& device) {
  const int bits = primitive_util::BitWidth(type);
  if (type == F64 || type == C128) {
    return device.matrix_f64 > 0 ? Passes{device.matrix_f64} : PassesOfF32(precision, device);
  }
  if (type == F32 || type == C64) return PassesOfF32(precision, device);
  const double wide = FirstRate({device.matrix_bf16, device.matrix_tf32, device.matrix_f32});
  if (primitive_util::IsFloatingPointType(type)) return {bits >= 16 ? wide : FirstRate({device.matrix_f8, wide})};
  if (bits > 8) return {};
  return {bits <= 4 ? FirstRate({device.matrix_s4, device.matrix_s8, wide}) : FirstRate({device.matrix_s8, wide})};
}

// ---- The padding of a TPU's tiles.

double PaddedTo(double size, int64_t tile) {
  return std::ceil(size / static_cast<double>(tile)) * static_cast<double>(tile);
}

// The flops of whole tiles, divided by those of rows x contracted x columns. The unit may hold either factor.
double TileFactor(double rows, double contracted, double columns, int64_t tile) {
  if (rows <= 0 || contracted <= 0 || columns <= 0) return 1;
  const double free = std::min(PaddedTo(rows, kSublanes) * PaddedTo(columns, tile),
                               PaddedTo(rows, tile) * PaddedTo(columns, kSublanes));
  return PaddedTo(contracted, tile) / contracted * free / (rows * columns);
}

// The product of the sizes of these dimensions.
template <typename Dimensions>
double SizeOfAll(const Shape& shape, const Dimensions& dimensions) {
  std::vector<int64_t> sizes;
  for (const int64_t d : dimensions) {
    if (shape.IsArray() && d >= 0 && d < shape.dimensions_size()) sizes.push_back(shape.dimensions(d));
  }
  return ProductOfSizes(sizes);
}

double DotFactor(const HloInstruction& dot, int64_t tile) {
  const DotDimensionNumbers& numbers = dot.dot_dimension_numbers();
  const Shape &lhs = dot.operand(0)->shape(), &rhs = dot.operand(1)->shape();
  if (!lhs.IsArray() || !rhs.IsArray()) return 1;
  const double contracted = SizeOfAll(lhs, numbers.lhs_contracting_dimensions());
  const double batch = SizeOfAll(lhs, numbers.lhs_batch_dimensions());
  if (contracted <= 0 || batch <= 0) return 1;
  return TileFactor(ProductOfSizes(lhs.dimensions()) / contracted / batch, contracted,
                    ProductOfSizes(rhs.dimensions()) / contracted / batch, tile);
}

// The window is a part of the contracted dimension.
double ConvolutionFactor(const HloInstruction& convolution, int64_t tile) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  const Shape &kernel = convolution.operand(1)->shape(), &result = convolution.shape();
  if (!kernel.IsArray() || !result.IsArray()) return 1;
  const auto feature = static_cast<int64_t>(numbers.output_feature_dimension());
  const double columns = SizeOfAll(result, std::vector<int64_t>{feature});
  const double contracted = SizeOfAll(kernel, numbers.kernel_spatial_dimensions()) *
                            SizeOfAll(kernel, std::vector<int64_t>{numbers.kernel_input_feature_dimension()});
  if (columns <= 0) return 1;
  return TileFactor(ProductOfSizes(result.dimensions()) / columns, contracted, columns, tile);
}

}  // namespace

bool IsMatrixWork(const HloInstruction& instruction) {
  static constexpr HloOpcode kProducts[] = {HloOpcode::kDot, HloOpcode::kScaledDot, HloOpcode::kRaggedDot,
                                            HloOpcode::kConvolution};
  if (instruction.operand_count() < 2) return false;
  const gpu_calls::GpuCall* const call = gpu_calls::FindGpuCall(instruction);
  if (call != nullptr) return call->counts != gpu_calls::GpuCall::Counts::kElements;
  return absl::c_linear_search(kProducts, instruction.opcode());
}

MatrixWork MatrixWorkOf(const HloInstruction& instruction, const Accelerator& device) {
  const PrimitiveType type = FactorType(instruction);
  const bool is_custom = instruction.opcode() == HloOpcode::kCustomCall;
  const PrecisionConfig config = is_custom ? gpu_calls::PrecisionOf(instruction) : instruction.precision_config();
  Passes passes = PassesOfAlgorithm(config.algorithm(), device);
  if (passes.rate <= 0) passes = PassesOfType(type, HighestPrecision(config), device);
  MatrixWork work;
  work.is_on_vector_unit = passes.rate <= 0;
  work.rate = work.is_on_vector_unit ? device.VectorRate(type) : passes.rate / passes.count;
  if (primitive_util::IsComplexType(type)) work.rate /= kComplexProducts;
  if (device.matrix_tile == 0 || work.is_on_vector_unit) return work;
  if (instruction.opcode() == HloOpcode::kDot) work.padding_factor = DotFactor(instruction, device.matrix_tile);
  if (instruction.opcode() == HloOpcode::kConvolution) {
    work.padding_factor = ConvolutionFactor(instruction, device.matrix_tile);
  }
  return work;
}

}  // namespace kashi::insight
