// The former path of xla/tsl/platform/protobuf.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_
#define KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_

#include "xla/tsl/platform/protobuf.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_PROTOBUF_H_
