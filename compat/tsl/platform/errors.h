// The former path of xla/tsl/platform/errors.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_ERRORS_H_
#define KASHI_COMPAT_TSL_PLATFORM_ERRORS_H_

#include "xla/tsl/platform/errors.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_ERRORS_H_
