// The settings of module_settings.proto, and their place in each form of a file.
//
//   binary   field 73217 of HloModuleProto, which other readers keep as unknown or ignore
//   text     a comment in the first line, `# kashi_settings { … }`: other readers refuse unknown fields
//   JSON     the member "kashi_settings" of the module
#ifndef KASHI_PROTO_MODULE_SETTINGS_PROTO_H_
#define KASHI_PROTO_MODULE_SETTINGS_PROTO_H_

#include <string>

#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module_config.h"
#include "kashi/proto/hlo.pb.h"
#include "kashi/proto/module_settings.pb.h"

namespace kashi::proto::proto_internal {

// Only the settings that differ from the default; an empty message if there are none.
ModuleSettings SettingsOf(const HloModuleConfig& config);
void ApplySettings(const ModuleSettings& settings, HloModuleConfig* config);

// Binary form.
void AddSettings(const HloModuleConfig& config, HloModuleProto* proto);
ModuleSettings SettingsIn(const HloModuleProto& proto);

// Text form: the line, newline included, or nothing; and the settings of such a line at the beginning of `text`.
std::string SettingsComment(const HloModuleConfig& config);
ModuleSettings SettingsInComment(absl::string_view text);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_MODULE_SETTINGS_PROTO_H_
