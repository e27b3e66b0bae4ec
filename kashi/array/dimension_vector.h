// A list with one number per dimension. Ranks up to InlineRank() need no allocation.
#ifndef KASHI_ARRAY_DIMENSION_VECTOR_H_
#define KASHI_ARRAY_DIMENSION_VECTOR_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"

namespace kashi {

constexpr int InlineRank() { return 6; }
using DimensionVector = absl::InlinedVector<int64_t, InlineRank()>;

}  // namespace kashi

#endif  // KASHI_ARRAY_DIMENSION_VECTOR_H_
