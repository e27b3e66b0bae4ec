// The former path of xla/tsl/platform/threadpool.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_THREADPOOL_H_
#define KASHI_COMPAT_TSL_PLATFORM_THREADPOOL_H_

#include "xla/tsl/platform/threadpool.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_THREADPOOL_H_
