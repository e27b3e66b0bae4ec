// Blocks of arrays: ranges along one dimension.
#ifndef KASHI_VALUES_ARRAY_BLOCKS_H_
#define KASHI_VALUES_ARRAY_BLOCKS_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "kashi/values/value.h"

namespace kashi::values {

// An array seen along a dimension: `outer` times `size` times `inner` elements.
struct Slabs {
  Slabs(absl::Span<const int64_t> dimensions, int64_t d) : size(dimensions[d]) {
    for (int64_t i = 0; i < d; ++i) outer *= dimensions[i];
    for (size_t i = d + 1; i < dimensions.size(); ++i) inner *= dimensions[i];
  }
  int64_t outer = 1;
  int64_t size;
  int64_t inner = 1;
};

// Source and target differ along d only: to[…, to_begin + i, …] = from[…, from_begin + i, …] for i in [0, count).
void CopyBlock(const Value& from, int64_t from_begin, Value* to, int64_t to_begin, int64_t count, int64_t d);

}  // namespace kashi::values

#endif  // KASHI_VALUES_ARRAY_BLOCKS_H_
