// absl_testing's IsOk, IsOkAndHolds and StatusIs under tsl::testing, where older code looks for them.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_MATCHERS_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_MATCHERS_H_

#include "absl/status/status_matchers.h"
#include "xla/tsl/protobuf/error_codes.pb.h"

namespace tsl::testing {

using ::absl_testing::IsOk;
using ::absl_testing::IsOkAndHolds;
using ::absl_testing::StatusIs;

}  // namespace tsl::testing

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_MATCHERS_H_
