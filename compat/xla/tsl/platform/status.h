// absl::Status under tsl, and TF_CHECK_OK.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_H_

#include "absl/log/check.h"
#include "absl/status/status.h"
#include "xla/tsl/platform/logging.h"
#include "xla/tsl/platform/macros.h"
#include "xla/tsl/platform/types.h"
#include "xla/tsl/protobuf/error_codes.pb.h"

namespace tsl {
using ::absl::OkStatus;  // NOLINT
using ::absl::Status;    // NOLINT
}  // namespace tsl

#define TF_CHECK_OK(status) CHECK_OK(status)
#define TF_QCHECK_OK(status) QCHECK_OK(status)
#define TF_DCHECK_OK(status) DCHECK_OK(status)

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_STATUS_H_
