// Questions about windows (convolution, reduce-window, select-and-scatter), their text, and the arithmetic of their
// bounds.
//
//   window_util::ToString(window) == "size=3x3 stride=2x2 pad=1_1x0_0"
//
// docs/spec/xla-api.md, section 17. A parser or a proto may have put any number into a window: all questions and
// ToString take that; MakeWindow and the bounds, where it says so, do not.
#ifndef KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_
#define KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "kashi/base/printer.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi::window_util {

// Strides and dilations are 1 if not given, padding 0. Dies unless there are as many strides as sizes.
Window MakeWindow(absl::Span<const int64_t> sizes);
Window MakeWindow(absl::Span<const int64_t> sizes, absl::Span<const int64_t> strides);

// The same padding at both edges of each dimension, none inside.
PaddingConfig MakeSymmetricPadding(absl::Span<const int64_t> sizes);

// Text as in HLO: the sizes, and each further part if it is not the default in all dimensions. Nothing for a window
// without dimensions. Print appends the text to `printer` without an allocation of its own.
//
//   size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate=2x1 rhs_dilate=1x2 rhs_reversal=1x0
void Print(Printer* printer, const Window& window);
std::string ToString(const Window& window);
// One dimension in readable form: "(size=3,stride=2,padding_low=1)".
std::string ToString(const WindowDimension& dimension);

// Of any dimension.
bool HasStride(const Window& window);
bool HasPadding(const Window& window);
bool HasNegativePadding(const Window& window);
bool HasBaseDilation(const Window& window);
bool HasWindowDilation(const Window& window);
bool HasDilation(const Window& window);  // of either kind
bool HasWindowReversal(const Window& window);
bool HasOverlappingWindow(const Window& window);  // a size larger than its stride

// Of all dimensions: as much padding low as high; reversed or not. True if there are none.
bool HasSymmetricPadding(const Window& window);
bool HasSymmetricPadding(const PaddingConfig& padding_config);
bool AllOrNoneReversed(const Window& window);

// Size 1, and nothing else that would change a shape.
bool IsTrivialWindowDimension(const WindowDimension& dimension);

// `bound` elements with dilation - 1 holes between neighbours: 3 by 4 is 9. No elements have no holes: 0 stays 0. Wraps
// around if it does not fit. Dies unless bound >= 0 and dilation >= 1.
int64_t DilatedBound(int64_t bound, int64_t dilation);

// How many windows of that size, so far apart, fit into `bound` elements. 0 if none does. Dies unless bound,
// window_size
// >= 0 and stride >= 1.
int64_t StridedBound(int64_t bound, int64_t window_size, int64_t stride);

}  // namespace kashi::window_util

#endif  // KASHI_HLO_ATTRIBUTES_WINDOW_UTIL_H_
