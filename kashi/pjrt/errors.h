// Errors of the C API: a status as an object, and back.
#ifndef KASHI_PJRT_ERRORS_H_
#define KASHI_PJRT_ERRORS_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// All objects behind the pointers of the C API begin with this null pointer: from version 0.105 on, the first word may
// point to a table of functions, for callers that keep data of their own with an object; they look whether it does.
struct Object {
  const void* const function_table = nullptr;
};

}  // namespace kashi::pjrt

struct PJRT_Error : kashi::pjrt::Object {
  explicit PJRT_Error(const absl::Status& status) : code(status.code()), message(status.message()) {}

  const absl::StatusCode code;
  const std::string message;
};

namespace kashi::pjrt {

// The caller destroys it. Null for OK.
PJRT_Error* MakeError(const absl::Status& status);
// A status from an error code of the caller: OK for 0, UNKNOWN for a number that is none.
absl::Status StatusOf(int code, absl::string_view message);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_ERRORS_H_
