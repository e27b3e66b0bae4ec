// Cuts two lists of sizes with the same product into as many pieces as possible, so that matching pieces have the same
// product. A reshape merges, splits or keeps the dimensions of each piece.
//
//   CommonFactors({2,5,1,3}, {1,10,3,1}) == {(0,0), (0,1), (2,2), (3,2), (4,3), (4,4)}
//     pieces: {} and {1}, {2,5} and {10}, {1} and {}, {3} and {3}, {} and {1}
#ifndef KASHI_ARRAY_COMMON_FACTORS_H_
#define KASHI_ARRAY_COMMON_FACTORS_H_

#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace kashi {

// Cuts as positions (in a, in b), from (0, 0) to (a.size(), b.size()); a size of 1 is a piece of its own. Behind the
// common start, lists with a size 0 are one piece. Dies if the products differ.
absl::InlinedVector<std::pair<int64_t, int64_t>, 8> CommonFactors(absl::Span<const int64_t> a,
                                                                  absl::Span<const int64_t> b);

}  // namespace kashi

#endif  // KASHI_ARRAY_COMMON_FACTORS_H_
