// CopyStrided (strided_walk.h) with cancellation.
#ifndef KASHI_LITERAL_STRIDED_COPY_H_
#define KASHI_LITERAL_STRIDED_COPY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "kashi/base/work_meter.h"
#include "kashi/literal/strided_walk.h"

namespace kashi::internal {

// Ends early, with some of the box copied, when is_stopped(), which is asked every few megabytes.
void CopyStridedUntil(absl::Span<const int64_t> bounds, int element_bytes, StridedSource source, StridedTarget target,
                      StopFunction is_stopped);

}  // namespace kashi::internal

#endif  // KASHI_LITERAL_STRIDED_COPY_H_
