// The padding of the input of a window operation, given as "same" or "valid" instead of numbers.
#ifndef KASHI_HLO_BUILDER_PADDING_H_
#define KASHI_HLO_BUILDER_PADDING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace kashi {

enum class Padding {
  kSame,   // so that there are ceil(input / stride) windows; an odd one goes to the high edge
  kValid,  // none
};

// InvalidArgument unless the three lists are equally long, and windows and strides are positive.
absl::Status ValidatePaddingValues(absl::Span<const int64_t> input_dimensions,
                                   absl::Span<const int64_t> window_dimensions,
                                   absl::Span<const int64_t> window_strides);

// (low, high) for each dimension. Dies for arguments that ValidatePaddingValues refuses.
std::vector<std::pair<int64_t, int64_t>> MakePadding(absl::Span<const int64_t> input_dimensions,
                                                     absl::Span<const int64_t> window_dimensions,
                                                     absl::Span<const int64_t> window_strides, Padding padding);

}  // namespace kashi

#endif  // KASHI_HLO_BUILDER_PADDING_H_
