// abseil's own header, and c_contains where it has none.
#ifndef KASHI_COMPAT_ABSL_ALGORITHM_CONTAINER_H_
#define KASHI_COMPAT_ABSL_ALGORITHM_CONTAINER_H_

#include_next "absl/algorithm/container.h"

#include "kashi_compat/abseil.h"

#if KASHI_COMPAT_OLD_ABSEIL

namespace absl {

template <typename Sequence, typename T>
bool c_contains(const Sequence& sequence, const T& value) {
  return c_linear_search(sequence, value);
}

}  // namespace absl

#endif  // KASHI_COMPAT_OLD_ABSEIL

#endif  // KASHI_COMPAT_ABSL_ALGORITHM_CONTAINER_H_
