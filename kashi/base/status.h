// Functions that make an absl::Status from a format string, and the two macros that return an error to the caller.
//
//   KASHI_RETURN_IF_ERROR(ValidateShape(shape));
//   KASHI_ASSIGN_OR_RETURN(Shape shape, ParseShape(text));
//   return InvalidArgument("dimension %d is out of range [0, %d)", d, rank);
#ifndef KASHI_BASE_STATUS_H_
#define KASHI_BASE_STATUS_H_

#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kashi {

#define KASHI_STATUS_CONSTRUCTOR(Name)                                              \
  template <typename... Args>                                                       \
  absl::Status Name(const absl::FormatSpec<Args...>& format, const Args&... args) { \
    return absl::Name##Error(absl::StrFormat(format, args...));                     \
  }                                                                                 \
  template <typename... Args>                                                       \
  absl::Status Name##StrCat(const Args&... args) {                                  \
    return absl::Name##Error(absl::StrCat(args...));                                \
  }
KASHI_STATUS_CONSTRUCTOR(InvalidArgument)
KASHI_STATUS_CONSTRUCTOR(Unimplemented)
KASHI_STATUS_CONSTRUCTOR(Internal)
KASHI_STATUS_CONSTRUCTOR(FailedPrecondition)
KASHI_STATUS_CONSTRUCTOR(NotFound)
KASHI_STATUS_CONSTRUCTOR(ResourceExhausted)
KASHI_STATUS_CONSTRUCTOR(Unavailable)
KASHI_STATUS_CONSTRUCTOR(Unknown)
KASHI_STATUS_CONSTRUCTOR(Cancelled)
#undef KASHI_STATUS_CONSTRUCTOR

}  // namespace kashi

#define KASHI_RETURN_IF_ERROR(expr)                                                   \
  do {                                                                                \
    if (absl::Status kashi_status = (expr); ABSL_PREDICT_FALSE(!kashi_status.ok())) { \
      return kashi_status;                                                            \
    }                                                                                 \
  } while (false)

#define KASHI_INTERNAL_CONCAT2(a, b) a##b
#define KASHI_INTERNAL_CONCAT(a, b) KASHI_INTERNAL_CONCAT2(a, b)
#define KASHI_ASSIGN_OR_RETURN(lhs, expr) \
  KASHI_INTERNAL_ASSIGN_OR_RETURN(KASHI_INTERNAL_CONCAT(kashi_status_or_, __COUNTER__), lhs, expr)
#define KASHI_INTERNAL_ASSIGN_OR_RETURN(status_or, lhs, expr)                    \
  auto status_or = (expr);                                                       \
  if (ABSL_PREDICT_FALSE(!status_or.ok())) return std::move(status_or).status(); \
  lhs = std::move(status_or).value()

#endif  // KASHI_BASE_STATUS_H_
