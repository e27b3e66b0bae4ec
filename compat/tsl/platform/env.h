// The former path of xla/tsl/platform/env.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_ENV_H_
#define KASHI_COMPAT_TSL_PLATFORM_ENV_H_

#include "xla/tsl/platform/env.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_ENV_H_
