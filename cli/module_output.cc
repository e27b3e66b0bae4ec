#include "cli/module_output.h"

#include <filesystem>

#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_print_options.h"
#include "kashi/proto/hlo_json.h"
#include "kashi/proto/hlo_proto_io.h"

namespace kashi::cli {

absl::StatusOr<std::string> ModuleForPath(const HloModule& module, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending == ".json") return HloModuleToJson(module);
  if (ending != ".pb" && ending != ".pbtxt") {
    return module.ToString(HloPrintOptions().set_print_large_constants(true));
  }
  HloProtoFile form;
  form.text_format = ending == ".pbtxt";
  std::string bytes;
  KASHI_RETURN_IF_ERROR(WriteHloProto(module, form, &bytes));
  return bytes;
}

}  // namespace kashi::cli
