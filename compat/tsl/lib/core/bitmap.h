// The older path of xla/tsl/lib/core/bitmap.h.
#ifndef KASHI_COMPAT_TSL_LIB_CORE_BITMAP_H_
#define KASHI_COMPAT_TSL_LIB_CORE_BITMAP_H_

#include "xla/tsl/lib/core/bitmap.h"

#endif  // KASHI_COMPAT_TSL_LIB_CORE_BITMAP_H_
