#include "kashi/analysis/cost_analysis_windows.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kashi/analysis/cost_analysis_sizes.h"

namespace kashi::analysis {
namespace {

// Each window by itself.
double SeparateRuns(const Window& window, const Shape& result) {
  return Saturate(std::max(WindowElements(window) - 1, 0.0) * Elements(result));
}

// The numbers of a hostile module may be of any size, so sums are doubles.
bool IsCumulative(const WindowDimension& along, double length, double windows) {
  if (along.size() < 2 || along.stride() != 1 || along.base_dilation() != 1 || along.window_dilation() != 1) {
    return false;
  }
  const auto low = static_cast<double>(along.padding_low()), size = static_cast<double>(along.size());
  const bool all_begin_with_it = windows - 1 <= low;
  const bool all_end_with_it = size - low >= length;
  return all_begin_with_it || all_end_with_it;
}

}  // namespace

double WindowElements(const Window& window) {
  std::vector<int64_t> sizes;
  for (const WindowDimension& dimension : window.dimensions()) sizes.push_back(dimension.size());
  return ProductOfSizes(sizes);
}

double XlaWindowRuns(const Window& window, const Shape& result) {
  int wide = -1, wide_count = 0, padded_count = 0;
  for (int d = 0; d < window.dimensions_size(); ++d) {
    const WindowDimension& dimension = window.dimensions(d);
    if (dimension.padding_low() != 0 || dimension.padding_high() != 0) ++padded_count;
    if (dimension.size() == 1) continue;
    wide = d;
    ++wide_count;
  }
  const double all = Saturate((WindowElements(window) - 1) * Elements(result));
  if (wide_count != 1 || padded_count != 1 || wide >= result.dimensions_size()) return all;
  const WindowDimension& along = window.dimensions(wide);
  const int64_t reach = along.padding_low(), length = result.dimensions(wide);
  // The order of the terms keeps the sums within bounds. False if the padding is another dimension's: no reach then.
  const bool is_cumulative = length > 1 && reach == length - 1 && along.padding_high() == reach && along.size() > 0 &&
                             along.size() - reach == reach + 1;
  return is_cumulative ? Elements(result) / static_cast<double>(length) + static_cast<double>(reach) : all;
}

double NeededWindowRuns(const Window& window, const Shape& operand, const Shape& result) {
  const double separate = SeparateRuns(window, result);
  if (!operand.IsArray() || !result.IsArray() || operand.dimensions_size() != result.dimensions_size() ||
      window.dimensions_size() != result.dimensions_size()) {
    return separate;
  }
  double passes = 0, others = 1;
  // The sizes that the passes so far have made.
  std::vector<int64_t> sizes(operand.dimensions().begin(), operand.dimensions().end());
  for (int d = 0; d < window.dimensions_size(); ++d) {
    const WindowDimension& along = window.dimensions(d);
    const auto length = static_cast<double>(operand.dimensions(d)), windows = static_cast<double>(result.dimensions(d));
    if (!IsCumulative(along, length, windows)) {
      others = Saturate(others * static_cast<double>(std::max<int64_t>(along.size(), 0)));
      continue;
    }
    sizes[d] = 1;
    passes = Saturate(passes + ProductOfSizes(sizes) * std::max(length - 1, 0.0));
    sizes[d] = result.dimensions(d);
  }
  return std::min(separate, Saturate(passes + std::max(others - 1, 0.0) * Elements(result)));
}

}  // namespace kashi::analysis
