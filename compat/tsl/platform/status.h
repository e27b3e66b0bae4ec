// The former path of xla/tsl/platform/status.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_STATUS_H_
#define KASHI_COMPAT_TSL_PLATFORM_STATUS_H_

#include "xla/tsl/platform/status.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_STATUS_H_
