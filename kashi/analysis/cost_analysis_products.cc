#include "kashi/analysis/cost_analysis_products.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/analysis/cost_analysis_sizes.h"
#include "kashi/base/math.h"

namespace kashi::analysis {
namespace {

// A wide integer for products of two numbers from a file.
using Wide = __int128;

// The least x >= 0 with a * x ≡ c (mod m), for 0 <= a < m and gcd(a, m) = 1.
Wide SolveCongruence(Wide a, Wide c, Wide m) {
  Wide r0 = m, r1 = a, t0 = 0, t1 = 1;  // Euclid: t1 * a ≡ r1 (mod m)
  while (r1 != 0) {
    const Wide quotient = r0 / r1;
    r0 = std::exchange(r1, r0 - quotient * r1);
    t0 = std::exchange(t1, t0 - quotient * t1);
  }
  const Wide inverse = (t0 % m + m) % m;
  return inverse * ((c % m + m) % m) % m;
}

// The sum over 0 <= t < count of floor((step * t + start) / divisor), none of them negative. O(log).
Wide FloorSum(Wide count, Wide divisor, Wide step, Wide start) {
  Wide sum = 0;
  while (count > 0) {
    sum += (count - 1) * count / 2 * (step / divisor) + count * (start / divisor);
    step %= divisor;
    start %= divisor;
    const Wide last = step * count + start;  // the next sum has its axes exchanged, as in Euclid's algorithm
    count = last / divisor;
    start = last % divisor;
    std::swap(divisor, step);
  }
  return sum;
}

// The number of pairs (i, j), 0 <= i < columns, 0 <= j < rows, with width * i + height * j < limit. O(log).
Wide PointsBelow(Wide columns, Wide rows, Wide width, Wide height, Wide limit) {
  if (columns <= 0 || rows <= 0 || limit <= 0) return 0;
  const Wide reached = std::min(rows, CeilOfRatio(limit, height));  // rows with any
  const Wide beyond_full = limit - width * (columns - 1);
  const Wide full = beyond_full <= 0 ? 0 : std::min(reached, CeilOfRatio(beyond_full, height));
  const Wide partial = reached - full;
  return columns * full + partial + FloorSum(partial, width, height, limit - height * (reached - 1) - 1);
}

// The number of pairs of an output position and a kernel position of one spatial dimension that fall on an element of
// the input, not on padding or between dilated elements: o and k such that x = stride * o + window_dilation * k
// - padding_low is in [0, input * base_dilation) and divisible by the base dilation. Positions k that are equal modulo
// the dilation meet the same o, one period apart, so they are counted together. If the numbers are larger than any
// machine could hold, all pairs count.
double ValidPositions(int64_t input, int64_t output, const WindowDimension& window) {
  constexpr int64_t kMaxNumber = int64_t{1} << 31;
  constexpr int64_t kMaxPeriod = 64;
  const int64_t stride = window.stride(), dilation = window.base_dilation(), step = window.window_dilation();
  if (stride <= 0 || dilation <= 0 || step <= 0 || window.size() <= 0) return 0;
  const int64_t kernel_period = dilation / std::gcd(step, dilation);
  const int64_t largest = std::max({input, output, stride, dilation, step, window.size()});
  if (largest > kMaxNumber || std::min(kernel_period, window.size()) > kMaxPeriod ||
      window.padding_low() > kMaxNumber || window.padding_low() < -kMaxNumber) {
    return static_cast<double>(window.size()) * static_cast<double>(output);
  }
  const int64_t common = std::gcd(stride, dilation), output_period = dilation / common;
  Wide count = 0;
  for (int64_t k = 0; k < std::min(kernel_period, window.size()); ++k) {
    const int64_t offset = k * step - window.padding_low();
    if (offset % common != 0) continue;
    const Wide o = SolveCongruence(stride / common % output_period, -offset / common, output_period);
    const Wide columns = o < output ? CeilOfRatio<Wide>(output - o, output_period) : 0;
    const Wide rows = CeilOfRatio(window.size() - k, kernel_period);
    const Wide first = stride * o + offset;
    const Wide width = static_cast<Wide>(stride) * output_period, height = static_cast<Wide>(step) * kernel_period;
    count += PointsBelow(columns, rows, width, height, static_cast<Wide>(input) * dilation - first) -
             PointsBelow(columns, rows, width, height, -first);
  }
  return static_cast<double>(count);
}

// 0 for a dimension that the shape does not have.
int64_t SizeOf(const Shape& shape, int64_t dimension) {
  return dimension >= 0 && dimension < shape.dimensions_size() ? std::max<int64_t>(shape.dimensions(dimension), 0) : 0;
}

}  // namespace

double DotFlops(const Shape& lhs, const Shape& result, const DotDimensionNumbers& numbers) {
  std::vector<int64_t> contracted;
  for (int64_t d : numbers.lhs_contracting_dimensions()) {
    if (lhs.IsArray() && d >= 0 && d < lhs.dimensions_size()) contracted.push_back(lhs.dimensions(d));
  }
  return Saturate(kFmaFlops * Elements(result) * ProductOfSizes(contracted));
}

double RaggedDotFlops(const HloInstruction& ragged_dot) {
  if (ragged_dot.operand_count() < 1 || !ragged_dot.shape().IsArray()) return 0;
  const RaggedDotDimensionNumbers& numbers = ragged_dot.ragged_dot_dimension_numbers();
  Shape product = ragged_dot.shape();
  for (int i = 0; i < numbers.rhs_group_dimensions_size() && product.dimensions_size() > 0; ++i) {
    product.DeleteDimension(0);
  }
  return DotFlops(ragged_dot.operand(0)->shape(), product, numbers.dot_dimension_numbers());
}

double NeededRaggedDotFlops(const HloInstruction& ragged_dot) {
  if (ragged_dot.operand_count() < 1 || !ragged_dot.shape().IsArray()) return 0;
  const RaggedDotDimensionNumbers& numbers = ragged_dot.ragged_dot_dimension_numbers();
  const DotDimensionNumbers& dot = numbers.dot_dimension_numbers();
  const double all = DotFlops(ragged_dot.operand(0)->shape(), ragged_dot.shape(), dot);
  const bool has_groups = numbers.lhs_ragged_dimensions_size() == 1 && ragged_dot.operand_count() > 2 &&
                          ragged_dot.operand(2)->shape().IsArray();
  if (!has_groups || !absl::c_linear_search(dot.lhs_contracting_dimensions(), numbers.lhs_ragged_dimensions(0))) {
    return all;
  }
  // The groups split the contracted dimension, and the result has one product for each.
  const Shape& sizes = ragged_dot.operand(2)->shape();
  const auto groups = static_cast<double>(SizeOf(sizes, sizes.dimensions_size() - 1));
  return groups > 0 ? all / groups : 0;
}

double ConvolutionFlops(const HloInstruction& convolution, const Shape& input, const Shape& result) {
  const ConvolutionDimensionNumbers& numbers = convolution.convolution_dimension_numbers();
  if (!input.IsArray() || !result.IsArray()) return 0;
  double flops = kFmaFlops;
  const Window& window = convolution.window();
  for (int i = 0; i < window.dimensions_size(); ++i) {
    if (i >= numbers.input_spatial_dimensions_size() || i >= numbers.output_spatial_dimensions_size()) return 0;
    flops =
        Saturate(flops * ValidPositions(SizeOf(input, numbers.input_spatial_dimensions(i)),
                                        SizeOf(result, numbers.output_spatial_dimensions(i)), window.dimensions(i)));
  }
  const int64_t features =
      SizeOf(input, numbers.input_feature_dimension()) / std::max<int64_t>(convolution.feature_group_count(), 1);
  const int64_t batch =
      SizeOf(input, numbers.input_batch_dimension()) / std::max<int64_t>(convolution.batch_group_count(), 1);
  return Saturate(flops * ProductOfSizes({features, batch, SizeOf(result, numbers.output_feature_dimension())}));
}

double ConvolutionFlops(const HloInstruction& convolution) {
  if (convolution.operand_count() < 2) return 0;
  return ConvolutionFlops(convolution, convolution.operand(0)->shape(), convolution.shape());
}

}  // namespace kashi::analysis
