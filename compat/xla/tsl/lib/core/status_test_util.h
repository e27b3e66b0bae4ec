// TF_EXPECT_OK and TF_ASSERT_OK, of a Status or a StatusOr.
#ifndef KASHI_COMPAT_XLA_TSL_LIB_CORE_STATUS_TEST_UTIL_H_
#define KASHI_COMPAT_XLA_TSL_LIB_CORE_STATUS_TEST_UTIL_H_

#include "absl/status/status_matchers.h"
#include "xla/tsl/platform/status_matchers.h"
#include "xla/tsl/platform/test.h"

#define TF_EXPECT_OK(...) EXPECT_THAT((__VA_ARGS__), ::absl_testing::IsOk())
#define TF_ASSERT_OK(...) ASSERT_THAT((__VA_ARGS__), ::absl_testing::IsOk())

#endif  // KASHI_COMPAT_XLA_TSL_LIB_CORE_STATUS_TEST_UTIL_H_
