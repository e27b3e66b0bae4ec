#include "kashi/hlo/text/hlo_parser.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "kashi/base/status.h"
#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/text/hlo_reader.h"

namespace kashi {

using hlo::HloReader;

absl::StatusOr<std::unique_ptr<HloModule>> ParseAndReturnUnverifiedModule(absl::string_view text,
                                                                          const HloModuleConfig& config,
                                                                          const HloParserOptions& options,
                                                                          std::vector<Diagnostic>* diagnostics) {
  HloReader reader(text, config, options);
  std::unique_ptr<HloModule> module = reader.ReadModule();
  if (diagnostics != nullptr) *diagnostics = reader.diagnostics();
  if (module != nullptr) {
    module->set_source_name(options.source_name());
    return module;
  }
  return DiagnosticsToStatus(SourceText{options.source_name(), text}, reader.diagnostics());
}

namespace {

// The error of a reader of a part, as a status.
template <typename T>
absl::StatusOr<T> ToStatus(std::optional<T> value, absl::string_view what, const std::string& error) {
  if (value.has_value()) return *std::move(value);
  return InvalidArgument("%s: %s", what, error);
}

template <typename T>
absl::StatusOr<T> ParseWhole(absl::string_view text) {
  const HloParserOptions options;
  HloReader reader(text, HloModuleConfig(), options);
  T value;
  if (reader.ReadWhole(&value)) return value;
  return DiagnosticsToStatus(SourceText{options.source_name(), text}, reader.diagnostics());
}

}  // namespace

absl::StatusOr<std::vector<Shape>> ParseShapeList(absl::string_view text) {
  // The list itself is in braces, which may be left out.
  if (absl::StripLeadingAsciiWhitespace(text).substr(0, 1) == "{") return ParseWhole<std::vector<Shape>>(text);
  return ParseWhole<std::vector<Shape>>(absl::StrCat("{", text, "}"));
}

absl::StatusOr<FrontendAttributes> ParseFrontendAttributes(absl::string_view text) {
  return ParseWhole<FrontendAttributes>(text);
}

absl::StatusOr<StatisticsViz> ParseStatisticsViz(absl::string_view text) { return ParseWhole<StatisticsViz>(text); }

absl::StatusOr<std::vector<bool>> ParseParameterReplication(absl::string_view text) {
  return ParseWhole<std::vector<bool>>(text);
}

absl::StatusOr<std::shared_ptr<OriginalValue>> ParseOriginalValue(absl::string_view text) {
  return ParseWhole<std::shared_ptr<OriginalValue>>(text);
}

absl::StatusOr<Window> ParseWindow(absl::string_view text) {
  std::string error;
  return ToStatus(ParseWindow(text, &error), "window", error);
}

absl::StatusOr<ConvolutionDimensionNumbers> ParseConvolutionDimensionNumbers(absl::string_view text) {
  std::string error;
  return ToStatus(ParseDimLabels(text, &error), "dim_labels", error);
}

absl::StatusOr<PaddingConfig> ParsePaddingConfig(absl::string_view text) {
  std::string error;
  return ToStatus(ParsePadding(text, &error), "padding", error);
}

}  // namespace kashi
