// google::protobuf under tsl. Where a function takes a message, it also takes one of the small records (Window,
// OpSharding, …), which are plain values here (kashi/hlo/attributes/message.h).
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_

#include <string>
#include <type_traits>

#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "kashi/hlo/attributes/message.h"

namespace tsl::protobuf {

using namespace ::google::protobuf;  // NOLINT

template <typename T>
inline constexpr bool kIsMessage = std::is_base_of_v<::google::protobuf::Message, T>;

class TextFormat : public ::google::protobuf::TextFormat {
 public:
  using ::google::protobuf::TextFormat::ParseFromString;
  using ::google::protobuf::TextFormat::PrintToString;

  template <typename Record, typename = std::enable_if_t<!kIsMessage<Record>>>
  static bool ParseFromString(const std::string& text, Record* record) {
    return ::kashi::message_internal::ReadRecordText(text, record);
  }
  template <typename Record, typename = std::enable_if_t<!kIsMessage<Record>>>
  static bool PrintToString(const Record& record, std::string* text) {
    *text = record.DebugString();
    return true;
  }
};

namespace util {

using namespace ::google::protobuf::util;  // NOLINT

class MessageDifferencer : public ::google::protobuf::util::MessageDifferencer {
 public:
  using ::google::protobuf::util::MessageDifferencer::Equals;
  using ::google::protobuf::util::MessageDifferencer::Equivalent;

  template <typename Record, typename = std::enable_if_t<!kIsMessage<Record>>>
  static bool Equals(const Record& a, const Record& b) {
    return a == b;
  }
  template <typename Record, typename = std::enable_if_t<!kIsMessage<Record>>>
  static bool Equivalent(const Record& a, const Record& b) {
    return a == b;
  }
};

}  // namespace util
}  // namespace tsl::protobuf

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_
