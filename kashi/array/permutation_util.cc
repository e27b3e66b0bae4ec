#include "kashi/array/permutation_util.h"

#include "absl/container/inlined_vector.h"
#include "kashi/array/dimension_vector.h"

namespace kashi {

bool IsPermutation(absl::Span<const int64_t> permutation) {
  const int64_t size = static_cast<int64_t>(permutation.size());
  absl::InlinedVector<bool, InlineRank()> seen(permutation.size(), false);
  for (int64_t value : permutation) {
    if (value < 0 || value >= size || seen[value]) return false;
    seen[value] = true;
  }
  return true;
}

}  // namespace kashi
