// The former path of xla/tsl/platform/types.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_TYPES_H_
#define KASHI_COMPAT_TSL_PLATFORM_TYPES_H_

#include "xla/tsl/platform/types.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_TYPES_H_
