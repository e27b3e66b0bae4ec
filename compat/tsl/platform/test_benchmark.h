// The former path of xla/tsl/platform/test_benchmark.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_TEST_BENCHMARK_H_
#define KASHI_COMPAT_TSL_PLATFORM_TEST_BENCHMARK_H_

#include "xla/tsl/platform/test_benchmark.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_TEST_BENCHMARK_H_
