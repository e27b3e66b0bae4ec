// Small macros that XLA's code uses everywhere.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_MACROS_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_MACROS_H_

#include <cstddef>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"

#define TF_PREDICT_TRUE(x) ABSL_PREDICT_TRUE(x)
#define TF_PREDICT_FALSE(x) ABSL_PREDICT_FALSE(x)
#define TF_ATTRIBUTE_NORETURN ABSL_ATTRIBUTE_NORETURN
#define TF_ATTRIBUTE_ALWAYS_INLINE ABSL_ATTRIBUTE_ALWAYS_INLINE
#define TF_ATTRIBUTE_NOINLINE ABSL_ATTRIBUTE_NOINLINE
#define TF_ATTRIBUTE_UNUSED ABSL_ATTRIBUTE_UNUSED
#define TF_CONST_INIT ABSL_CONST_INIT
#define TF_MUST_USE_RESULT ABSL_MUST_USE_RESULT
#define TF_ARRAYSIZE(array) (sizeof(array) / sizeof(*(array)))

#define TF_DISALLOW_COPY_AND_ASSIGN(TypeName) \
  TypeName(const TypeName&) = delete;         \
  void operator=(const TypeName&) = delete

// Use: `(void)x` for a variable that only some builds look at.
template <typename... T>
constexpr void TF_UNUSED_VARIABLES(T&&...) {}

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_MACROS_H_
