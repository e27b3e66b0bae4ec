// The former path of xla/tsl/lib/core/status_test_util.h.
#ifndef KASHI_COMPAT_TSL_LIB_CORE_STATUS_TEST_UTIL_H_
#define KASHI_COMPAT_TSL_LIB_CORE_STATUS_TEST_UTIL_H_

#include "xla/tsl/lib/core/status_test_util.h"

#endif  // KASHI_COMPAT_TSL_LIB_CORE_STATUS_TEST_UTIL_H_
