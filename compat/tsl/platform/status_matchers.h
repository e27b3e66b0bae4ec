// The former path of xla/tsl/platform/status_matchers.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_
#define KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_

#include "xla/tsl/platform/status_matchers.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_
