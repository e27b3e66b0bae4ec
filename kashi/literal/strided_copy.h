// CopyStrided (strided_walk.h) with cancellation.
#ifndef KASHI_LITERAL_STRIDED_COPY_H_
#define KASHI_LITERAL_STRIDED_COPY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::internal {

// Calls is_stopped() every few megabytes; if true, ends early with a part of the box copied.
void CopyStridedUntil(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source, StridedTarget target,
                      StopFunction is_stopped);

}  // namespace kashi::internal

#endif  // KASHI_LITERAL_STRIDED_COPY_H_
