// The former path of xla/hlo/testlib/test.h.
#ifndef KASHI_COMPAT_XLA_TEST_H_
#define KASHI_COMPAT_XLA_TEST_H_

#include "xla/hlo/testlib/test.h"

#endif  // KASHI_COMPAT_XLA_TEST_H_
