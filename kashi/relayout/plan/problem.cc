#include "kashi/relayout/plan/problem.h"

#include "kashi/base/math.h"

namespace kashi::relayout {

int64_t ElementCount(absl::Span<const int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t size : dimensions) {
    if (size == 0) return 0;
    count = CheckedMultiply(count, size).value_or(INT64_MAX);
  }
  return count;
}

}  // namespace kashi::relayout
