// The former path of xla/tsl/platform/logging.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_LOGGING_H_
#define KASHI_COMPAT_TSL_PLATFORM_LOGGING_H_

#include "xla/tsl/platform/logging.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_LOGGING_H_
