// Queries of windows (convolution, reduce-window, select-and-scatter), their text, and the arithmetic of their
// bounds.
//
//   window_util::ToString(window) == "size=3x3 stride=2x2 pad=1_1x0_0"
//
// docs/spec/xla-api.md, section 17. A window from a parser or a proto may have any numbers. All queries and ToString
// accept such windows; MakeWindow and the bounds do not, where they say so.
#ifndef KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_
#define KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::window_util {

// Strides and dilations that are not given are 1, padding is 0. Dies unless there are as many strides as sizes.
Window MakeWindow(absl::Span<const int64_t> sizes);
Window MakeWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides);

// `sizes` is the padding at both edges of each dimension; there is no interior padding.
PaddingConfig MakeSymmetricPadding(absl::Span<const int64_t> sizes);

// Text as in HLO: the sizes, and each other part that is not the default in all dimensions. Empty for a window
// without dimensions. Print appends the text to `printer` without an allocation of its own.
//
//   size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x0
void Print(Printer* printer, const Window& window);
std::string ToString(const Window& window);
// One dimension in readable form: "(size=3,stride=2,padding_low=1)".
std::string ToString(const WindowDimension& dimension);

// Whether some dimension has a stride; padding; and so on.
bool HasStride(const Window& window);
bool HasPadding(const Window& window);
bool HasNegativePadding(const Window& window);
bool HasBaseDilation(const Window& window);
bool HasWindowDilation(const Window& window);
bool HasDilation(const Window& window);  // of either kind
bool HasWindowReversal(const Window& window);
bool HasOverlappingWindow(const Window& window);  // a size larger than its stride

// Whether every dimension has equal padding at both edges; whether all or none are reversed. True without dimensions.
bool HasSymmetricPadding(const Window& window);
bool HasSymmetricPadding(const PaddingConfig& padding_config);
bool AllOrNoneReversed(const Window& window);

// Whether the size is 1 and nothing else would change a shape.
bool IsTrivialWindowDimension(const WindowDimension& dimension);

// The size of `bound` elements with dilation - 1 holes between neighbours: 3 by 4 is 9. 0 elements stay 0. Wraps
// around if it does not fit. Dies unless bound >= 0 and dilation >= 1.
int64_t DilatedBound(int64_t bound, int64_t dilation);

// The number of windows of this size, with this stride, that fit into `bound` elements. Dies unless bound,
// window_size
// >= 0 and stride >= 1.
int64_t StridedBound(int64_t bound, int64_t window_size, int64_t stride);

}  // namespace kashi::window_util

#endif  // KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_
