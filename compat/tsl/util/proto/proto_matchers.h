// The former path of xla/tsl/util/proto/proto_matchers.h.
#ifndef KASHI_COMPAT_TSL_UTIL_PROTO_PROTO_MATCHERS_H_
#define KASHI_COMPAT_TSL_UTIL_PROTO_PROTO_MATCHERS_H_

#include "xla/tsl/util/proto/proto_matchers.h"

#endif  // KASHI_COMPAT_TSL_UTIL_PROTO_PROTO_MATCHERS_H_
