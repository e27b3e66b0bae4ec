// Any bytes as StableHLO's text, then as HLO. Neither step ends the process, and an error names its place.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "kashi/base/check.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/stablehlo/conversion/stablehlo_to_hlo.h"
#include "kashi/stablehlo/program/program.h"
#include "kashi/stablehlo/text/text_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<kashi::stablehlo::Program> program = kashi::stablehlo::ReadText(text, "fuzz.mlir");
  if (!program.ok()) {
    KASHI_CHECK(absl::StartsWith(program.status().message(), "fuzz.mlir:"));
    return 0;
  }
  KASHI_CHECK(program->module != nullptr);
  kashi::stablehlo::ConversionOptions options;
  options.source.name = "fuzz.mlir";
  options.source.text = text;
  options.source_is_text = true;
  options.argument = [](int64_t number) -> absl::StatusOr<kashi::stablehlo::KnownArgument> {
    return kashi::stablehlo::KnownArgument{std::vector<int64_t>(static_cast<size_t>(1 + number % 3), 2 + number), 3};
  };
  const absl::StatusOr<std::unique_ptr<kashi::HloModule>> module = kashi::stablehlo::ConvertToHlo(*program, options);
  if (!module.ok()) KASHI_CHECK(!module.status().message().empty());
  return 0;
}
