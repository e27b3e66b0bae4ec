// Modules as JSON: protobuf's JSON form of HloModuleProto, field names as in the .proto files.
#ifndef KASHI_PROTO_HLO_JSON_H_
#define KASHI_PROTO_HLO_JSON_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi {

// Whether the text begins as a JSON object does, which no HLO text does. O(1) but for white space in front.
bool LooksLikeHloJson(absl::string_view text);

// Indented. 64-bit numbers are strings and bytes are base64, as protobuf has it. INVALID_ARGUMENT for a module with a
// string that is no UTF-8.
absl::StatusOr<std::string> HloModuleToJson(const HloModule& module);

// INVALID_ARGUMENT if the text is not such JSON; otherwise the errors of HloModule::CreateFromProto.
absl::StatusOr<std::unique_ptr<HloModule>> HloModuleFromJson(absl::string_view text);

}  // namespace kashi

#endif  // KASHI_PROTO_HLO_JSON_H_
