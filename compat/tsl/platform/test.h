// The former path of xla/tsl/platform/test.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_TEST_H_
#define KASHI_COMPAT_TSL_PLATFORM_TEST_H_

#include "xla/tsl/platform/test.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_TEST_H_
