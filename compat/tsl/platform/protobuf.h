// Where xla/tsl/platform/protobuf.h stood before.
#ifndef KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_
#define KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_

#include "xla/tsl/platform/protobuf.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_
