// google::protobuf under tsl.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_

#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"

namespace tsl {
namespace protobuf = ::google::protobuf;
}  // namespace tsl

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_PROTOBUF_H_
