// Where xla/tsl/platform/macros.h stood before.
#ifndef KASHI_COMPAT_TSL_PLATFORM_MACROS_H_
#define KASHI_COMPAT_TSL_PLATFORM_MACROS_H_

#include "xla/tsl/platform/macros.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_MACROS_H_
