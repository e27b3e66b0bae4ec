// Where xla/hlo/testlib/test_helpers.h stood before.
#ifndef KASHI_COMPAT_XLA_TEST_HELPERS_H_
#define KASHI_COMPAT_XLA_TEST_HELPERS_H_

#include "xla/hlo/testlib/test_helpers.h"

#endif  // KASHI_COMPAT_XLA_TEST_HELPERS_H_
