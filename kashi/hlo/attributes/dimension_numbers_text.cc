#include "kashi/hlo/attributes/dimension_numbers_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "kashi/array/lexer.h"

namespace kashi {

using array::Lexer;
using array::Token;
namespace {

// `name={1,2}`, after `, ` if it is not the first.
void AppendList(absl::string_view name, absl::Span<const int64_t> values, std::string* text) {
  absl::StrAppend(text, text->empty() ? "" : ", ", name, "={", absl::StrJoin(values, ","), "}");
}
void AppendListUnlessEmpty(absl::string_view name, absl::Span<const int64_t> values, std::string* text) {
  if (!values.empty()) AppendList(name, values, text);
}

// ---- Labels, printed -----------------------------------------------------------------------------------------------

constexpr int64_t kMaxLabels = 256;  // protos may claim any dimension; see the header

// The labels of one array: `first` and `second` at their dimensions, then spatial dimension i as the number i. Later
// labels replace earlier ones; `?` marks a dimension without a label.
std::string LabelsToString(std::pair<char, int64_t> first, std::pair<char, int64_t> second,
                           absl::Span<const int64_t> spatial) {
  std::vector<std::string> labels;
  auto put = [&labels](int64_t dimension, std::string label) {
    if (dimension < 0 || dimension >= kMaxLabels) return;
    if (dimension >= static_cast<int64_t>(labels.size())) labels.resize(dimension + 1, "?");
    labels[dimension] = std::move(label);
  };
  put(first.second, std::string(1, first.first));
  put(second.second, std::string(1, second.first));
  for (size_t i = 0; i < spatial.size(); ++i) put(spatial[i], absl::StrCat(i));
  return absl::StrJoin(labels, "");
}

}  // namespace

std::string PaddingConfigToString(const PaddingConfig& padding) {
  const auto& dims = padding.dimensions();
  const bool has_interior =
      std::any_of(dims.begin(), dims.end(), [](const PaddingConfigDimension& d) { return d.interior_padding() != 0; });
  return absl::StrJoin(dims, "x", [has_interior](std::string* out, const PaddingConfigDimension& dimension) {
    absl::StrAppend(out, dimension.edge_padding_low(), "_", dimension.edge_padding_high());
    if (has_interior) absl::StrAppend(out, "_", dimension.interior_padding());
  });
}

std::string ConvolutionDimensionNumbersToString(const ConvolutionDimensionNumbers& dnums) {
  return absl::StrCat(LabelsToString({'b', dnums.input_batch_dimension()}, {'f', dnums.input_feature_dimension()},
                                     dnums.input_spatial_dimensions()),
                      "_",
                      LabelsToString({'i', dnums.kernel_input_feature_dimension()},
                                     {'o', dnums.kernel_output_feature_dimension()}, dnums.kernel_spatial_dimensions()),
                      "->",
                      LabelsToString({'b', dnums.output_batch_dimension()}, {'f', dnums.output_feature_dimension()},
                                     dnums.output_spatial_dimensions()));
}

std::string DotDimensionNumbersToString(const DotDimensionNumbers& dnums) {
  std::string text;
  AppendListUnlessEmpty("lhs_batch_dims", dnums.lhs_batch_dimensions(), &text);
  AppendList("lhs_contracting_dims", dnums.lhs_contracting_dimensions(), &text);
  AppendListUnlessEmpty("rhs_batch_dims", dnums.rhs_batch_dimensions(), &text);
  AppendList("rhs_contracting_dims", dnums.rhs_contracting_dimensions(), &text);
  return text;
}

std::string RaggedDotDimensionNumbersToString(const RaggedDotDimensionNumbers& dnums) {
  std::string text = DotDimensionNumbersToString(dnums.dot_dimension_numbers());
  AppendListUnlessEmpty("lhs_ragged_dims", dnums.lhs_ragged_dimensions(), &text);
  AppendListUnlessEmpty("rhs_group_dims", dnums.rhs_group_dimensions(), &text);
  return text;
}

std::string GatherDimensionNumbersToString(const GatherDimensionNumbers& dnums) {
  std::string text;
  AppendList("offset_dims", dnums.offset_dims(), &text);
  AppendList("collapsed_slice_dims", dnums.collapsed_slice_dims(), &text);
  AppendList("start_index_map", dnums.start_index_map(), &text);
  AppendListUnlessEmpty("operand_batching_dims", dnums.operand_batching_dims(), &text);
  AppendListUnlessEmpty("start_indices_batching_dims", dnums.start_indices_batching_dims(), &text);
  absl::StrAppend(&text, ", index_vector_dim=", dnums.index_vector_dim());
  return text;
}

std::string ScatterDimensionNumbersToString(const ScatterDimensionNumbers& dnums) {
  std::string text;
  AppendList("update_window_dims", dnums.update_window_dims(), &text);
  AppendList("inserted_window_dims", dnums.inserted_window_dims(), &text);
  AppendList("scatter_dims_to_operand_dims", dnums.scatter_dims_to_operand_dims(), &text);
  AppendListUnlessEmpty("input_batching_dims", dnums.input_batching_dims(), &text);
  AppendListUnlessEmpty("scatter_indices_batching_dims", dnums.scatter_indices_batching_dims(), &text);
  absl::StrAppend(&text, ", index_vector_dim=", dnums.index_vector_dim());
  return text;
}

// ---- Windows and padding, parsed -----------------------------------------------------------------------------------

namespace {

std::nullopt_t Fail(std::string message, std::string* error) {
  *error = std::move(message);
  return std::nullopt;
}

bool IsDigitAt(absl::string_view text, size_t at) { return at < text.size() && absl::ascii_isdigit(text[at]); }
bool IsAt(absl::string_view text, size_t at, char c) { return at < text.size() && text[at] == c; }

// The end of -?[0-9]+ at `at`; `at` if there is no integer.
size_t SkipInteger(absl::string_view text, size_t at) {
  size_t end = at + (IsAt(text, at, '-') ? 1 : 0);
  if (!IsDigitAt(text, end)) return at;
  while (IsDigitAt(text, end)) ++end;
  return end;
}

// The numbers of one dimension: low_high or low_high_interior. False: one does not fit int64_t.
struct DimensionPadding {
  std::array<int64_t, 3> values = {0, 0, 0};
  int count = 0;
  bool fits = true;
};

// Reads -?d+_-?d+(_d+)? at *at, and moves *at to its end.
std::optional<DimensionPadding> ParseDimensionPadding(absl::string_view text, size_t* at) {
  DimensionPadding padding;
  size_t begin = *at;
  while (padding.count < 3) {
    const bool is_interior = padding.count == 2;
    const size_t end = is_interior && IsAt(text, begin, '-') ? begin : SkipInteger(text, begin);
    if (end == begin) break;
    padding.fits &= absl::SimpleAtoi(text.substr(begin, end - begin), &padding.values[padding.count]);
    ++padding.count;
    *at = end;
    if (!IsAt(text, end, '_')) break;
    begin = end + 1;
  }
  if (padding.count < 2) return std::nullopt;
  return padding;
}

// Reads the padding of all dimensions at *at, with `x` between them, and moves *at to the end. Empty: none.
std::vector<DimensionPadding> ParsePaddings(absl::string_view text, size_t* at) {
  std::vector<DimensionPadding> paddings;
  for (size_t begin = *at;; begin = *at + 1) {
    std::optional<DimensionPadding> padding = ParseDimensionPadding(text, &begin);
    if (!padding) return paddings;
    paddings.push_back(*padding);
    *at = begin;
    if (!IsAt(text, begin, 'x')) return paddings;
  }
}

// Reads the text between the braces of a window. Field names, space and comments are the lexer's; numbers are read
// here, as `3x3` is one token in HLO text but not in shapes.
class WindowParser {
 public:
  WindowParser(absl::string_view text, std::string* error) : lexer_(text), error_(error) {}

  std::optional<Window> Parse() {
    while (lexer_.kind() != Token::Kind::kEnd) {
      if (!ParseField()) return std::nullopt;
    }
    if (!HasOneForEachSize("stride", stride_.size()) || !HasOneForEachSize("lhs_dilate", lhs_dilate_.size()) ||
        !HasOneForEachSize("rhs_dilate", rhs_dilate_.size()) || !HasOneForEachSize("pad", pad_.size())) {
      return std::nullopt;
    }
    return MakeWindow();
  }

 private:
  bool Fail(std::string message) {
    *error_ = std::move(message);
    return false;
  }

  bool ParseField() {
    if (lexer_.kind() != Token::Kind::kAttributeName) return Fail("expects sub-attributes in window");
    absl::string_view name = lexer_.token_text();
    name.remove_suffix(1);
    lexer_.Next();
    if (name == "size") return ParseSizes(name, &size_);
    if (name == "stride") return ParseSizes(name, &stride_);
    if (name == "lhs_dilate") return ParseSizes(name, &lhs_dilate_);
    if (name == "rhs_dilate") return ParseSizes(name, &rhs_dilate_);
    if (name == "rhs_reversal") return ParseSizes(name, &rhs_reversal_);
    if (name == "pad") return ParsePad();
    return Fail(absl::StrCat("unexpected attribute name: ", name));
  }

  // -?d+, or d+(xd+)+.
  bool ParseSizes(absl::string_view name, std::vector<int64_t>* sizes) {
    if (!sizes->empty()) return Fail(absl::StrCat("sub-attribute '", name, "=' already exists"));
    const absl::string_view text = lexer_.text();
    const size_t begin = lexer_.token().begin;
    size_t end = SkipInteger(text, begin);
    if (end == begin) return Fail("expects token type kInt or kDxD");
    if (IsAt(text, begin, '-') || !IsAt(text, end, 'x') || !IsDigitAt(text, end + 1)) {
      return ParseOneSize(text.substr(begin, end - begin), end, sizes);
    }
    for (size_t number = begin;; number = end + 1) {
      end = SkipInteger(text, number);
      if (!absl::SimpleAtoi(text.substr(number, end - number), &sizes->emplace_back())) {
        return Fail(absl::StrCat("expects sub-attribute '", name, "=ixj...'"));
      }
      if (!IsAt(text, end, 'x') || !IsDigitAt(text, end + 1)) break;
    }
    lexer_ = Lexer(text, end);
    return true;
  }

  // A single number may be unsigned; it wraps.
  bool ParseOneSize(absl::string_view number, size_t end, std::vector<int64_t>* sizes) {
    int64_t value = 0;
    if (uint64_t magnitude = 0; absl::SimpleAtoi(number, &magnitude)) {
      value = static_cast<int64_t>(magnitude);
    } else if (!absl::SimpleAtoi(number, &value)) {
      return Fail("expects token type kInt or kDxD");
    }
    sizes->push_back(value);
    lexer_ = Lexer(lexer_.text(), end);
    return true;
  }

  bool ParsePad() {
    if (!pad_.empty()) return Fail("sub-attribute 'pad=' already exists");
    size_t at = lexer_.token().begin;
    pad_ = ParsePaddings(lexer_.text(), &at);
    if (pad_.empty()) return Fail("expects window pad pattern, e.g., '0_0x3_3'");
    for (const DimensionPadding& padding : pad_) {
      if (!padding.fits || padding.count != 2) return Fail("expects padding_low and padding_high separated by '_'");
    }
    lexer_ = Lexer(lexer_.text(), at);
    return true;
  }

  bool HasOneForEachSize(const char* name, size_t count) {
    return count == 0 || count == size_.size() ||
           Fail(absl::StrCat("expects '", name, "=' has the same size as 'size='"));
  }

  Window MakeWindow() const {
    Window window;
    for (size_t i = 0; i < size_.size(); ++i) {
      WindowDimension* dimension = window.add_dimensions();
      dimension->set_size(size_[i]);
      dimension->set_stride(stride_.empty() ? 1 : stride_[i]);
      dimension->set_base_dilation(lhs_dilate_.empty() ? 1 : lhs_dilate_[i]);
      dimension->set_window_dilation(rhs_dilate_.empty() ? 1 : rhs_dilate_[i]);
      dimension->set_window_reversal(i < rhs_reversal_.size() && rhs_reversal_[i] == 1);
      if (pad_.empty()) continue;
      dimension->set_padding_low(pad_[i].values[0]);
      dimension->set_padding_high(pad_[i].values[1]);
    }
    return window;
  }

  Lexer lexer_;
  std::string* error_;
  std::vector<int64_t> size_, stride_, lhs_dilate_, rhs_dilate_, rhs_reversal_;
  std::vector<DimensionPadding> pad_;
};

}  // namespace

std::optional<Window> ParseWindow(absl::string_view text, std::string* error) {
  return WindowParser(text, error).Parse();
}

std::optional<PaddingConfig> ParsePadding(absl::string_view text, std::string* error) {
  size_t at = 0;
  const std::vector<DimensionPadding> paddings = ParsePaddings(text, &at);
  if (paddings.empty() || at != text.size()) {
    return Fail("expects padding config, e.g., '0_0_0x3_3_1'", error);
  }
  PaddingConfig config;
  for (const DimensionPadding& padding : paddings) {
    if (!padding.fits) return Fail("expects padding config pattern like 'low_high_interior' or 'low_high'", error);
    PaddingConfigDimension* dimension = config.add_dimensions();
    dimension->set_edge_padding_low(padding.values[0]);
    dimension->set_edge_padding_high(padding.values[1]);
    dimension->set_interior_padding(padding.values[2]);
  }
  return config;
}

// ---- Labels, parsed ------------------------------------------------------------------------------------------------

namespace {

// The dimensions of one array's labels. A missing letter has dimension 0.
struct Labels {
  int64_t first = 0;
  int64_t second = 0;
  RepeatedField<int64_t> spatial;
};

bool AreLabels(absl::string_view text, absl::string_view letters) {
  return text.size() >= 2 && std::all_of(text.begin(), text.end(), [letters](char c) {
           return absl::ascii_isdigit(c) || c == '?' || letters.find(c) != absl::string_view::npos;
         });
}

bool AreUnique(absl::string_view labels) {
  std::string sorted(labels);
  std::sort(sorted.begin(), sorted.end());
  const auto repeated = [](char a, char b) { return a == b && a != '?'; };
  return std::adjacent_find(sorted.begin(), sorted.end(), repeated) == sorted.end();
}

// `what` is "lhs", "rhs" or "output"; `letters` the two letters of that array.
std::optional<Labels> ParseLabels(absl::string_view text, absl::string_view letters, absl::string_view what,
                                  std::string* error) {
  if (!AreUnique(text)) {
    return Fail(absl::StrCat("expects unique ", what, " dimension numbers, but sees ", text), error);
  }
  Labels labels;
  for (char c : text) {
    if (absl::ascii_isdigit(c)) labels.spatial.Add(-1);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const int64_t dimension = static_cast<int64_t>(i);
    if (text[i] == letters[0]) labels.first = dimension;
    if (text[i] == letters[1]) labels.second = dimension;
    if (!absl::ascii_isdigit(text[i])) continue;
    // XLA compares with the number of labels, and so dies for `b1f`, which has no meaning.
    if (text[i] - '0' >= labels.spatial.size()) {
      return Fail(absl::StrCat("expects [0-", text.size() - 1, letters, "?] in ", what, " dimension numbers"), error);
    }
    labels.spatial.Set(text[i] - '0', dimension);
  }
  return labels;
}

}  // namespace

std::optional<ConvolutionDimensionNumbers> ParseDimLabels(absl::string_view text, std::string* error) {
  const size_t underscore = text.find('_');
  const size_t arrow = text.find("->");
  if (underscore == absl::string_view::npos || arrow == absl::string_view::npos || arrow < underscore ||
      !AreLabels(text.substr(0, underscore), "bf") ||
      !AreLabels(text.substr(underscore + 1, arrow - underscore - 1), "io") ||
      !AreLabels(text.substr(arrow + 2), "bf")) {
    return Fail("expects dim labels pattern, e.g., 'bf0_0io->0bf'", error);
  }
  std::optional<Labels> lhs = ParseLabels(text.substr(0, underscore), "bf", "lhs", error);
  if (!lhs) return std::nullopt;
  std::optional<Labels> rhs = ParseLabels(text.substr(underscore + 1, arrow - underscore - 1), "io", "rhs", error);
  if (!rhs) return std::nullopt;
  std::optional<Labels> output = ParseLabels(text.substr(arrow + 2), "bf", "output", error);
  if (!output) return std::nullopt;
  if (lhs->spatial.size() != rhs->spatial.size() || lhs->spatial.size() != output->spatial.size()) {
    return Fail(
        absl::StrCat("input, kernel, and output must have same number of spatial dimensions, but got ",
                     lhs->spatial.size(), ", ", rhs->spatial.size(), ", ", output->spatial.size(), ", respectively."),
        error);
  }
  ConvolutionDimensionNumbers dnums;
  dnums.set_input_batch_dimension(lhs->first);
  dnums.set_input_feature_dimension(lhs->second);
  *dnums.mutable_input_spatial_dimensions() = lhs->spatial;
  dnums.set_kernel_input_feature_dimension(rhs->first);
  dnums.set_kernel_output_feature_dimension(rhs->second);
  *dnums.mutable_kernel_spatial_dimensions() = rhs->spatial;
  dnums.set_output_batch_dimension(output->first);
  dnums.set_output_feature_dimension(output->second);
  *dnums.mutable_output_spatial_dimensions() = output->spatial;
  return dnums;
}

}  // namespace kashi
