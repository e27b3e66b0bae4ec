// The header that XLA's tests include instead of gtest and gmock.
#ifndef KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_H_
#define KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_H_

#include "xla/tsl/lib/core/status_test_util.h"
#include "xla/tsl/platform/test.h"

#endif  // KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_H_
