#include "kashi/pjrt/errors.h"

namespace kashi::pjrt {

PJRT_Error* MakeError(const absl::Status& status) { return status.ok() ? nullptr : new PJRT_Error(status); }

absl::Status StatusOf(int code, absl::string_view message) {
  if (code == PJRT_Error_Code_OK) return absl::OkStatus();
  const bool is_known = code > 0 && code <= PJRT_Error_Code_UNAUTHENTICATED;
  return absl::Status(is_known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown, message);
}

}  // namespace kashi::pjrt
