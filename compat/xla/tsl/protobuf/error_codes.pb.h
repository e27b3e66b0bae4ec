// tsl::error: the status codes as an enum with the names of a proto's. No proto stands behind it.
#ifndef KASHI_COMPAT_XLA_TSL_PROTOBUF_ERROR_CODES_PB_H_
#define KASHI_COMPAT_XLA_TSL_PROTOBUF_ERROR_CODES_PB_H_

#include "absl/status/status.h"

namespace tsl::error {

enum Code : int {
  OK = 0,
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  NOT_FOUND = 5,
  ALREADY_EXISTS = 6,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  ABORTED = 10,
  OUT_OF_RANGE = 11,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
  UNAUTHENTICATED = 16,
};

inline bool operator==(Code a, absl::StatusCode b) { return static_cast<int>(a) == static_cast<int>(b); }
inline bool operator==(absl::StatusCode a, Code b) { return b == a; }
inline bool operator!=(Code a, absl::StatusCode b) { return !(a == b); }
inline bool operator!=(absl::StatusCode a, Code b) { return !(b == a); }

}  // namespace tsl::error

#endif  // KASHI_COMPAT_XLA_TSL_PROTOBUF_ERROR_CODES_PB_H_
