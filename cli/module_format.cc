#include "cli/module_format.h"

#include <filesystem>
#include <vector>

#include "absl/algorithm/container.h"
#include "kashi/base/status.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"
#include "kashi/stablehlo/conversion/hlo_to_stablehlo.h"

namespace kashi::cli {
namespace {

const std::vector<std::string>& ModuleFormats() {
  static const auto* const formats = new std::vector<std::string>{"text", "pb", "pbtxt", "json", "mlir"};
  return *formats;
}

}  // namespace

void AddModuleFormatOption(Verb* verb, std::string* to) {
  verb->AddOption("--to", to, "Format of the module (default: by the ending of the output's name, otherwise text)")
      ->OneOf(ModuleFormats());
}

std::string ModuleFormatOf(const std::string& to, const std::string& output) {
  if (!to.empty()) return to;
  std::string ending = std::filesystem::path(output).extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  return absl::c_linear_search(ModuleFormats(), ending) ? ending : "text";
}

absl::StatusOr<std::string> FormatModule(const HloModule& module, const std::string& format, bool large_constants) {
  if (format == "json") return HloModuleToJson(module);
  if (format == "mlir") return stablehlo::ConvertToStableHlo(module, {});
  if (format == "text") return module.ToString(HloPrintOptions().set_print_large_constants(large_constants));
  std::string bytes;
  KASHI_RETURN_IF_ERROR(WriteHloProto(module, HloProtoKind::kModule, /*text_format=*/format == "pbtxt", &bytes));
  return bytes;
}

}  // namespace kashi::cli
