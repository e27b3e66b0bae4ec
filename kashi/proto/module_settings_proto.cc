#include "kashi/proto/module_settings_proto.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/unknown_field_set.h"

namespace kashi::proto::proto_internal {
namespace {

constexpr absl::string_view kComment = "# ";

bool IsDefault(const HloModuleConfig::BoolList& list) { return list.size() == 1 && !list[0]; }

bool IsEmpty(const ModuleSettings& settings) { return settings.ByteSizeLong() == 0; }

}  // namespace

ModuleSettings SettingsOf(const HloModuleConfig& config) {
  ModuleSettings settings;
  if (config.replica_count() != 1) settings.set_replica_count(config.replica_count());
  if (config.num_partitions() != 1) settings.set_num_partitions(config.num_partitions());
  settings.set_alias_passthrough_params(config.alias_passthrough_params());
  const auto& to_parameters = config.allow_spmd_sharding_propagation_to_parameters();
  if (!IsDefault(to_parameters)) {
    settings.mutable_allow_spmd_sharding_propagation_to_parameters()->Assign(to_parameters.begin(),
                                                                             to_parameters.end());
  }
  const auto& to_output = config.allow_spmd_sharding_propagation_to_output();
  if (!IsDefault(to_output)) {
    settings.mutable_allow_spmd_sharding_propagation_to_output()->Assign(to_output.begin(), to_output.end());
  }
  return settings;
}

void ApplySettings(const ModuleSettings& settings, HloModuleConfig* config) {
  if (settings.has_replica_count()) config->set_replica_count(settings.replica_count());
  if (settings.has_num_partitions()) {
    config->set_num_partitions(settings.num_partitions());
    config->set_use_spmd_partitioning(settings.num_partitions() != 1);
  }
  config->set_alias_passthrough_params(settings.alias_passthrough_params());
  const auto& to_parameters = settings.allow_spmd_sharding_propagation_to_parameters();
  if (!to_parameters.empty()) {
    config->set_allow_spmd_sharding_propagation_to_parameters({to_parameters.begin(), to_parameters.end()});
  }
  const auto& to_output = settings.allow_spmd_sharding_propagation_to_output();
  if (!to_output.empty()) config->set_allow_spmd_sharding_propagation_to_output({to_output.begin(), to_output.end()});
}

void AddSettings(const HloModuleConfig& config, HloModuleProto* proto) {
  const ModuleSettings settings = SettingsOf(config);
  if (IsEmpty(settings)) return;
  google::protobuf::UnknownFieldSet* fields = proto->GetReflection()->MutableUnknownFields(proto);
  fields->AddLengthDelimited(ModuleSettingsFile::kKashiSettingsFieldNumber, settings.SerializeAsString());
}

ModuleSettings SettingsIn(const HloModuleProto& proto) {
  ModuleSettings settings;
  const google::protobuf::UnknownFieldSet& fields = proto.GetReflection()->GetUnknownFields(proto);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField& field = fields.field(i);
    const bool is_settings = field.number() == ModuleSettingsFile::kKashiSettingsFieldNumber &&
                             field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
    // Bytes that are not settings are a field of another program.
    if (is_settings && !settings.ParseFromString(field.length_delimited())) settings.Clear();
  }
  return settings;
}

std::string SettingsComment(const HloModuleConfig& config) {
  ModuleSettingsFile file;
  *file.mutable_kashi_settings() = SettingsOf(config);
  if (IsEmpty(file.kashi_settings())) return "";
  google::protobuf::TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  std::string text;
  printer.PrintToString(file, &text);
  return absl::StrCat(kComment, absl::StripTrailingAsciiWhitespace(text), "\n");
}

ModuleSettings SettingsInComment(absl::string_view text) {
  ModuleSettingsFile file;
  if (!absl::ConsumePrefix(&text, kComment)) return file.kashi_settings();
  const absl::string_view line = text.substr(0, text.find('\n'));
  // Other comments are ignored.
  const google::protobuf::LogSilencer silencer;
  if (!google::protobuf::TextFormat::ParseFromString(std::string(line), &file)) file.Clear();
  return file.kashi_settings();
}

}  // namespace kashi::proto::proto_internal
