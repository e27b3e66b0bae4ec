// The former path of xla/hlo/testlib/test_helpers.h.
#ifndef KASHI_COMPAT_XLA_TEST_HELPERS_H_
#define KASHI_COMPAT_XLA_TEST_HELPERS_H_

#include "xla/hlo/testlib/test_helpers.h"

#endif  // KASHI_COMPAT_XLA_TEST_HELPERS_H_
