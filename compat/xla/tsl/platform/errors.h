// TF_RETURN_IF_ERROR, and tsl::errors: statuses by name.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_ERRORS_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_ERRORS_H_

#include <string>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla/tsl/platform/logging.h"
#include "xla/tsl/platform/macros.h"
#include "xla/tsl/platform/status.h"

#define TF_RETURN_IF_ERROR(...)                          \
  do {                                                   \
    ::absl::Status kashi_compat_status = (__VA_ARGS__);  \
    if (ABSL_PREDICT_FALSE(!kashi_compat_status.ok())) { \
      return kashi_compat_status;                        \
    }                                                    \
  } while (false)

// The words come behind the message, after a line break and a tab.
#define TF_RETURN_WITH_CONTEXT_IF_ERROR(expr, ...)                       \
  do {                                                                   \
    ::absl::Status kashi_compat_status = (expr);                         \
    if (ABSL_PREDICT_FALSE(!kashi_compat_status.ok())) {                 \
      ::tsl::errors::AppendToMessage(&kashi_compat_status, __VA_ARGS__); \
      return kashi_compat_status;                                        \
    }                                                                    \
  } while (false)

namespace tsl::errors {

template <typename... Args>
void AppendToMessage(absl::Status* status, const Args&... args) {
  *status = absl::Status(status->code(), absl::StrCat(status->message(), "\n\t", args...));
}

// InvalidArgument("size ", n), …; and IsInvalidArgument(status).
#define KASHI_COMPAT_ERROR(Name)                     \
  template <typename... Args>                        \
  absl::Status Name(const Args&... args) {           \
    return absl::Name##Error(absl::StrCat(args...)); \
  }                                                  \
  inline bool Is##Name(const absl::Status& status) { return absl::Is##Name(status); }
KASHI_COMPAT_ERROR(Aborted)
KASHI_COMPAT_ERROR(AlreadyExists)
KASHI_COMPAT_ERROR(Cancelled)
KASHI_COMPAT_ERROR(DataLoss)
KASHI_COMPAT_ERROR(DeadlineExceeded)
KASHI_COMPAT_ERROR(FailedPrecondition)
KASHI_COMPAT_ERROR(Internal)
KASHI_COMPAT_ERROR(InvalidArgument)
KASHI_COMPAT_ERROR(NotFound)
KASHI_COMPAT_ERROR(OutOfRange)
KASHI_COMPAT_ERROR(PermissionDenied)
KASHI_COMPAT_ERROR(ResourceExhausted)
KASHI_COMPAT_ERROR(Unauthenticated)
KASHI_COMPAT_ERROR(Unavailable)
KASHI_COMPAT_ERROR(Unimplemented)
KASHI_COMPAT_ERROR(Unknown)
#undef KASHI_COMPAT_ERROR

}  // namespace tsl::errors

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_ERRORS_H_
