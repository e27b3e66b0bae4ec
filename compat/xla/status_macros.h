// TF_RET_CHECK and XLA_RET_CHECK_FAIL: an INTERNAL error instead of an end of the process.
#ifndef KASHI_COMPAT_XLA_STATUS_MACROS_H_
#define KASHI_COMPAT_XLA_STATUS_MACROS_H_

#include <sstream>

#include "absl/base/optimization.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/tsl/platform/errors.h"
#include "xla/tsl/platform/status.h"
#include "xla/tsl/platform/statusor.h"

namespace kashi_compat {

// Takes a message with << and becomes a Status, or a StatusOr of anything.
class RetCheckFailure {
 public:
  RetCheckFailure(const char* file, int line, const char* condition) {
    message_ << "RET_CHECK failure (" << file << ":" << line << ") " << condition << " ";
  }
  template <typename T>
  RetCheckFailure& operator<<(const T& value) {
    message_ << value;
    return *this;
  }
  operator absl::Status() const { return absl::InternalError(message_.str()); }  // NOLINT: `return` converts
  template <typename T>
  operator absl::StatusOr<T>() const {  // NOLINT
    return absl::InternalError(message_.str());
  }

 private:
  std::ostringstream message_;
};

}  // namespace kashi_compat

#define TF_RET_CHECK(condition) \
  while (ABSL_PREDICT_FALSE(!(condition))) return ::kashi_compat::RetCheckFailure(__FILE__, __LINE__, #condition)
#define XLA_RET_CHECK_FAIL() return ::kashi_compat::RetCheckFailure(__FILE__, __LINE__, "")

#endif  // KASHI_COMPAT_XLA_STATUS_MACROS_H_
