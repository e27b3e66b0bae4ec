// The former path of xla/tsl/platform/statusor.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_STATUSOR_H_
#define KASHI_COMPAT_TSL_PLATFORM_STATUSOR_H_

#include "xla/tsl/platform/statusor.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_STATUSOR_H_
