// HLO text to modules.
//
//   absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(text);
//
// Accepts exactly the texts that XLA's parser accepts (docs/spec/hlo.md, section 1), and never ends the process: text
// that ends XLA's process is an error here (section 7.1). The module is not verified: see hlo_verifier.h.
//
// Cost: one pass, linear in the text; a module takes a few times the memory of its text. Recurses only for nested
// operands and computations, with a limit.
#ifndef KASHI_HLO_TEXT_HLO_PARSER_H_
#define KASHI_HLO_TEXT_HLO_PARSER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/array/shape_parser.h"
#include "kashi/base/diagnostic.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi/hlo/attributes/xla_data.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/hlo/ir/original_value.h"

namespace kashi {

class HloParserOptions {
 public:
  // Whether a shape without layout gets the default layout.
  HloParserOptions& set_fill_missing_layouts(bool value) {
    fill_missing_layouts_ = value;
    return *this;
  }
  bool fill_missing_layouts() const { return fill_missing_layouts_; }
  // XLA fills `{...}` with made-up values; here its elements are always zero.
  HloParserOptions& set_fill_shortform_constants_with_random_values(bool value) {
    fill_shortform_constants_with_random_values_ = value;
    return *this;
  }
  bool fill_shortform_constants_with_random_values() const { return fill_shortform_constants_with_random_values_; }
  // Whether a shape without layout stays so in the entry computation layout, so that the compiler chooses its layout.
  HloParserOptions& set_keep_module_auto_layouts(bool value) {
    keep_module_auto_layouts_ = value;
    return *this;
  }
  bool keep_module_auto_layouts() const { return keep_module_auto_layouts_; }
  // Whether to keep text of a newer XLA, and to print it again, with a warning: attributes with unknown names, and
  // async-updates with several operands. Otherwise these are errors, as in XLA.
  HloParserOptions& set_keep_unknown_attributes(bool value) {
    keep_unknown_attributes_ = value;
    return *this;
  }
  bool keep_unknown_attributes() const { return keep_unknown_attributes_; }
  // The name of the text in messages.
  HloParserOptions& set_source_name(std::string name) {
    source_name_ = std::move(name);
    return *this;
  }
  const std::string& source_name() const { return source_name_; }

 private:
  bool fill_missing_layouts_ = true;
  bool fill_shortform_constants_with_random_values_ = true;
  bool keep_module_auto_layouts_ = false;
  bool keep_unknown_attributes_ = true;
  std::string source_name_ = "hlo";
};

// Reads a module, a computation without `HloModule`, or a single instruction. `config` has the defaults for values that
// the text does not give (replica count and others). INVALID_ARGUMENT with all errors; `diagnostics` also receives
// errors and warnings.
absl::StatusOr<std::unique_ptr<HloModule>> ParseAndReturnUnverifiedModule(
    absl::string_view text, const HloModuleConfig& config = HloModuleConfig(),
    const HloParserOptions& options = HloParserOptions(), std::vector<Diagnostic>* diagnostics = nullptr);

// ---- Parts of HLO text. INVALID_ARGUMENT if the text has anything else.
absl::StatusOr<std::vector<Shape>> ParseShapeList(absl::string_view text);  // "{f32[2], s32[]}"
absl::StatusOr<Window> ParseWindow(absl::string_view text);                 // "size=3x3 stride=2x2"
absl::StatusOr<ConvolutionDimensionNumbers> ParseConvolutionDimensionNumbers(absl::string_view text);  // "b0f_0io->b0f"
absl::StatusOr<PaddingConfig> ParsePaddingConfig(absl::string_view text);                              // "0_1x1_1"
absl::StatusOr<FrontendAttributes> ParseFrontendAttributes(absl::string_view text);                    // "{k=\"v\"}"
absl::StatusOr<StatisticsViz> ParseStatisticsViz(absl::string_view text);
absl::StatusOr<std::vector<bool>> ParseParameterReplication(absl::string_view text);  // "{true,false}"
// The text after `origin=`: `{({"a"}, {"b" {0}})}`.
absl::StatusOr<std::shared_ptr<OriginalValue>> ParseOriginalValue(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_HLO_TEXT_HLO_PARSER_H_
