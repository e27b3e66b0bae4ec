// Tells whether the installed abseil is older than the parts that XLA's code uses. Debian 12's is 20220623. Our headers
// under absl/… step aside (#include_next) where abseil has a header of that name; what older abseil headers lack is
// added only for versions known to lack it.
#ifndef KASHI_COMPAT_KASHI_COMPAT_ABSEIL_H_
#define KASHI_COMPAT_KASHI_COMPAT_ABSEIL_H_

#include "absl/base/config.h"

#if defined(ABSL_LTS_RELEASE_VERSION) && ABSL_LTS_RELEASE_VERSION < 20230125
#define KASHI_COMPAT_OLD_ABSEIL 1
#else
#define KASHI_COMPAT_OLD_ABSEIL 0
#endif

#endif  // KASHI_COMPAT_KASHI_COMPAT_ABSEIL_H_
