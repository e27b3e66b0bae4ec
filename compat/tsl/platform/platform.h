// tsl::kIsOpenSource.
#ifndef KASHI_COMPAT_TSL_PLATFORM_PLATFORM_H_
#define KASHI_COMPAT_TSL_PLATFORM_PLATFORM_H_

#include "xla/tsl/platform/types.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_PLATFORM_H_
