// TF_ASSIGN_OR_RETURN, and for tests TF_ASSERT_OK_AND_ASSIGN (which needs gtest where it is used).
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_STATUSOR_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_STATUSOR_H_

#include <utility>

#include "absl/base/optimization.h"
#include "absl/status/statusor.h"
#include "kashi_compat/concat.h"
#include "xla/tsl/platform/errors.h"
#include "xla/tsl/platform/macros.h"
#include "xla/tsl/platform/status.h"

namespace tsl {
using ::absl::StatusOr;  // NOLINT
}  // namespace tsl

// `lhs` may declare a variable. Only for functions that return void. The macro is a complete statement: the semicolon
// after it may be missing, as with XLA's.
#define TF_ASSERT_OK_AND_ASSIGN(lhs, rexpr) \
  KASHI_COMPAT_ASSERT_OK_AND_ASSIGN(KASHI_COMPAT_CONCAT(kashi_compat_status_or_, __COUNTER__), lhs, rexpr)
#define KASHI_COMPAT_ASSERT_OK_AND_ASSIGN(status_or, lhs, rexpr) \
  auto status_or = (rexpr);                                      \
  ASSERT_TRUE(status_or.status().ok()) << status_or.status();    \
  lhs = std::move(status_or).value();

#define TF_ASSIGN_OR_RETURN(lhs, rexpr) \
  KASHI_COMPAT_ASSIGN_OR_RETURN(KASHI_COMPAT_CONCAT(kashi_compat_status_or_, __COUNTER__), lhs, rexpr)
#define KASHI_COMPAT_ASSIGN_OR_RETURN(status_or, lhs, rexpr)                     \
  auto status_or = (rexpr);                                                      \
  if (ABSL_PREDICT_FALSE(!status_or.ok())) return std::move(status_or).status(); \
  lhs = std::move(status_or).value()

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_STATUSOR_H_
