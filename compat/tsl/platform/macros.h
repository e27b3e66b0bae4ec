// The former path of xla/tsl/platform/macros.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_MACROS_H_
#define KASHI_COMPAT_TSL_PLATFORM_MACROS_H_

#include "xla/tsl/platform/macros.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_MACROS_H_
