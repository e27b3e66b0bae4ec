// The text forms of windows, paddings and dimension numbers (docs/spec/hlo.md, 1.1 and 1.5):
//
//   Window                       size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1
//   PaddingConfig                0_1x1_1, or with interior padding 0_1_0x1_1_2: low_high[_interior] of each dimension
//   ConvolutionDimensionNumbers  b01f_01io->b01f: input, kernel and output; a letter or digit names each dimension, ?
//                                one that the operation does not know of
//   DotDimensionNumbers          lhs_contracting_dims={1}, rhs_contracting_dims={0}
//
// Parsers accept the texts that XLA's accept. When they return nullopt, they set *error with XLA's words. They also
// refuse texts for which XLA writes outside its memory. Printers accept any record. For windows: window_util::ToString.
#ifndef KASHI_HLO_ATTRIBUTES_DIMENSION_NUMBERS_TEXT_H_
#define KASHI_HLO_ATTRIBUTES_DIMENSION_NUMBERS_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "kashi/hlo/attributes/xla_data.h"

namespace kashi {

// ---- Printing ------------------------------------------------------------------------------------------------------

// Prints interior padding if some dimension has any.
std::string PaddingConfigToString(const PaddingConfig& padding);

// Omits dimensions outside [0, 256), which no operation has.
std::string ConvolutionDimensionNumbersToString(const ConvolutionDimensionNumbers& dnums);

// Prints batch dimensions only if there are any.
std::string DotDimensionNumbersToString(const DotDimensionNumbers& dnums);
std::string RaggedDotDimensionNumbersToString(const RaggedDotDimensionNumbers& dnums);

std::string GatherDimensionNumbersToString(const GatherDimensionNumbers& dnums);
std::string ScatterDimensionNumbersToString(const ScatterDimensionNumbers& dnums);

// ---- Parsing -------------------------------------------------------------------------------------------------------

// The text between the braces of `window={…}`: fields in any order, each at most once, separated by space or comments
// or nothing. `size` gives the number of dimensions; other fields have the same number or are absent, but rhs_reversal
// may have any number. Values are not checked.
std::optional<Window> ParseWindow(absl::string_view text, std::string* error);

// The whole text must be the padding, without space.
std::optional<PaddingConfig> ParsePadding(absl::string_view text, std::string* error);

// The whole text must be the labels, without space. Letters may be missing (those dimensions are 0), digits may not.
std::optional<ConvolutionDimensionNumbers> ParseDimLabels(absl::string_view text, std::string* error);

}  // namespace kashi

#endif  // KASHI_HLO_ATTRIBUTES_DIMENSION_NUMBERS_TEXT_H_
