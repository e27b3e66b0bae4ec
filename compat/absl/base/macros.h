// abseil's own header, and ABSL_DEPRECATE_AND_INLINE where it has none.
#ifndef KASHI_COMPAT_ABSL_BASE_MACROS_H_
#define KASHI_COMPAT_ABSL_BASE_MACROS_H_

#include_next "absl/base/macros.h"

#ifndef ABSL_DEPRECATE_AND_INLINE
#define ABSL_DEPRECATE_AND_INLINE()
#endif

#endif  // KASHI_COMPAT_ABSL_BASE_MACROS_H_
