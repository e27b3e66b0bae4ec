#include "kashi/hlo/builder/padding.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/status.h"
#include "kashi/base/wrapping.h"

namespace kashi {

using base::WrappingAdd;
using base::WrappingMultiply;
using base::WrappingSubtract;

absl::Status ValidatePaddingValues(absl::Span<const int64_t> input_dimensions,
                                   absl::Span<const int64_t> window_dimensions,
                                   absl::Span<const int64_t> window_strides) {
  if (input_dimensions.size() != window_dimensions.size() || input_dimensions.size() != window_strides.size()) {
    return InvalidArgument("Want input dimensions size %u = window dimensions size %u = window strides size %u",
                           input_dimensions.size(), window_dimensions.size(), window_strides.size());
  }
  for (size_t i = 0; i < input_dimensions.size(); ++i) {
    if (window_dimensions[i] <= 0) {
      return InvalidArgument("Window dimension %u has non-positive size %d", i, window_dimensions[i]);
    }
    if (window_strides[i] <= 0) {
      return InvalidArgument("Window dimension %u has non-positive stride %d", i, window_strides[i]);
    }
  }
  return absl::OkStatus();
}

std::vector<std::pair<int64_t, int64_t>> MakePadding(absl::Span<const int64_t> input_dimensions,
                                                     absl::Span<const int64_t> window_dimensions,
                                                     absl::Span<const int64_t> window_strides, Padding padding) {
  KASHI_CHECK_OK(ValidatePaddingValues(input_dimensions, window_dimensions, window_strides));
  std::vector<std::pair<int64_t, int64_t>> result(input_dimensions.size());
  if (padding == Padding::kValid) return result;
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t windows = CeilOfRatio(input_dimensions[i], window_strides[i]);
    // windows * stride may exceed int64_t by less than a stride; the subtraction brings it back.
    const int64_t covered = WrappingAdd(WrappingMultiply(windows - 1, window_strides[i]), window_dimensions[i]);
    const int64_t total = std::max<int64_t>(WrappingSubtract(covered, input_dimensions[i]), 0);
    result[i] = {total / 2, total - total / 2};
  }
  return result;
}

}  // namespace kashi
