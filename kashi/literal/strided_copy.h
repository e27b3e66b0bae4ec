// CopyStrided (strided_walk.h) with cancellation.
#ifndef KASHI_LITERAL_STRIDED_COPY_H_
#define KASHI_LITERAL_STRIDED_COPY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::internal {

// Calls check_stopped() every few megabytes; if that is an error, ends early with it, with a part of the box copied.
[[nodiscard]] absl::Status CopyStridedUntil(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source,
                                            StridedTarget target, StopFunction check_stopped);

}  // namespace kashi::internal

#endif  // KASHI_LITERAL_STRIDED_COPY_H_
