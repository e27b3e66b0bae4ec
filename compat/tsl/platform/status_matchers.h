// Where xla/tsl/platform/status_matchers.h stood before.
#ifndef KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_
#define KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_

#include "xla/tsl/platform/status_matchers.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_STATUS_MATCHERS_H_
