// An older path of pattern_matcher_gmock.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_GMOCK_H_
#define KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_GMOCK_H_

#include "xla/hlo/testlib/pattern_matcher_gmock.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_GMOCK_H_
