// abseil's own header where it has one; else its notes about pointers, which say nothing to the compiler.
#ifndef KASHI_COMPAT_ABSL_BASE_NULLABILITY_H_
#define KASHI_COMPAT_ABSL_BASE_NULLABILITY_H_

#if __has_include_next("absl/base/nullability.h")
#include_next "absl/base/nullability.h"
#else

#define absl_nonnull
#define absl_nullable
#define absl_nullability_unknown

namespace absl {

template <typename T>
using Nonnull = T;
template <typename T>
using Nullable = T;
template <typename T>
using NullabilityUnknown = T;

}  // namespace absl

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_BASE_NULLABILITY_H_
