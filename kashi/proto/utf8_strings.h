// Internal to kashi/proto: strings of a message that are not UTF-8. Protobuf writes such strings with a warning to
// standard error, and cannot read them back.
#ifndef KASHI_PROTO_UTF8_STRINGS_H_
#define KASHI_PROTO_UTF8_STRINGS_H_

#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace kashi::proto::proto_internal {

bool IsUtf8(absl::string_view text);

// A field, possibly of a nested message, with a string that is not UTF-8; null if there is none. Looks only where
// there can be strings; recursion is as deep as the message.
const google::protobuf::FieldDescriptor* FindStringThatIsNotUtf8(const google::protobuf::Message& message);

}  // namespace kashi::proto::proto_internal

#endif  // KASHI_PROTO_UTF8_STRINGS_H_
