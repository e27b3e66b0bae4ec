#include "kashi/proto/hlo_json.h"

#include <memory>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/util/json_util.h"
#include "kashi/base/status.h"
#include "kashi/proto/hlo.pb.h"
#include "kashi/proto/module_settings_proto.h"

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
  if (!status.ok()) return InvalidArgument("the module cannot be written as JSON: %s", std::string(status.message()));
  ModuleSettingsFile file;
  *file.mutable_kashi_settings() = proto::proto_internal::SettingsOf(module.config());
  if (file.kashi_settings().ByteSizeLong() == 0) return json;
  // {"kashi_settings": {…}} and {…} become one object.
  std::string settings;
  if (!google::protobuf::util::MessageToJsonString(file, &settings, options).ok()) return json;
  const absl::string_view head = absl::StripTrailingAsciiWhitespace(settings);
  return absl::StrCat(absl::StripTrailingAsciiWhitespace(head.substr(0, head.size() - 1)), ",",
                      absl::string_view(json).substr(1));
}

absl::StatusOr<std::unique_ptr<HloModule>> HloModuleFromJson(absl::string_view text) {
  HloModuleProto proto;
  ModuleSettingsFile settings;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  for (google::protobuf::Message* message :
       {static_cast<google::protobuf::Message*>(&settings), static_cast<google::protobuf::Message*>(&proto)}) {
    const auto status = google::protobuf::util::JsonStringToMessage(std::string(text), message, options);
    if (!status.ok()) return InvalidArgument("not an HloModuleProto in JSON: %s", std::string(status.message()));
  }
  KASHI_ASSIGN_OR_RETURN(HloModuleConfig config, HloModule::CreateModuleConfigFromProto(proto));
  proto::proto_internal::ApplySettings(settings.kashi_settings(), &config);
  return HloModule::CreateFromProto(proto, config);
}

}  // namespace kashi
