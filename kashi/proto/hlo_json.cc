#include "kashi/proto/hlo_json.h"

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "google/protobuf/util/json_util.h"
#include "kashi/base/status.h"
#include "kashi/proto/hlo.pb.h"

namespace kashi {

bool LooksLikeHloJson(absl::string_view text) {
  text = absl::StripLeadingAsciiWhitespace(text);
  if (text.empty() || text[0] != '{') return false;
  text = absl::StripLeadingAsciiWhitespace(text.substr(1));
  return !text.empty() && (text[0] == '"' || text[0] == '}');
}

absl::StatusOr<std::string> HloModuleToJson(const HloModule& module) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(module.ToProto(), &json, options);
  if (!status.ok()) return InvalidArgument("the module has no JSON: %s", std::string(status.message()));
  return json;
}

absl::StatusOr<std::unique_ptr<HloModule>> HloModuleFromJson(absl::string_view text) {
  HloModuleProto proto;
  const auto status = google::protobuf::util::JsonStringToMessage(std::string(text), &proto);
  if (!status.ok()) return InvalidArgument("not an HloModuleProto in JSON: %s", std::string(status.message()));
  KASHI_ASSIGN_OR_RETURN(const HloModuleConfig config, HloModule::CreateModuleConfigFromProto(proto));
  return HloModule::CreateFromProto(proto, config);
}

}  // namespace kashi
