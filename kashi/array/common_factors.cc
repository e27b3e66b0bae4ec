#include "kashi/array/common_factors.h"

#include <algorithm>

#include "kashi/base/check.h"
#include "kashi/base/math.h"
#include "kashi/base/util.h"

namespace kashi {
namespace {

using Cuts = absl::InlinedVector<std::pair<int64_t, int64_t>, 8>;

// The product is a number, so that partial products can be compared.
bool ProductFits(absl::Span<const int64_t> sizes) {
  int64_t product = 1;
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](int64_t size) { return size >= 0 && !__builtin_mul_overflow(product, size, &product); });
}

}  // namespace

Cuts CommonFactors(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  KASHI_CHECK_EQ(Product(a), Product(b)) << VectorString(a) << " and " << VectorString(b);
  const int64_t a_size = a.size(), b_size = b.size();
  Cuts cuts;
  int64_t i = 0, j = 0;
  for (; i < a_size && j < b_size && a[i] == b[j]; ++i, ++j) cuts.emplace_back(i, j);
  if (i == a_size && j == b_size) {
    cuts.emplace_back(i, j);
    return cuts;
  }
  // A size 0 makes the products equal for any later sizes: {0,10} and {0,10,3} do not match after the 10.
  const int64_t rest = Product(a.subspan(i));
  if (rest != Product(b.subspan(j)) || (rest != 0 && !(ProductFits(a.subspan(i)) && ProductFits(b.subspan(j))))) {
    return {{0, 0}, {a_size, b_size}};
  }
  cuts.emplace_back(i, j);
  if (rest == 0) {
    cuts.emplace_back(a_size, b_size);
    return cuts;
  }
  // Whichever side is behind takes its next size; if none is, the smaller next size, or both if they are equal.
  for (int64_t a_product = 1, b_product = 1; i < a_size || j < b_size;) {
    const bool even = a_product == b_product;
    const bool take_a = a_product < b_product || (even && i < a_size && (j == b_size || a[i] <= b[j]));
    const bool take_b = b_product < a_product || (even && j < b_size && (i == a_size || b[j] <= a[i]));
    if (take_a) a_product *= a[i++];
    if (take_b) b_product *= b[j++];
    if (a_product == b_product) cuts.emplace_back(i, j);
  }
  return cuts;
}

}  // namespace kashi
