// abseil's own header where it has one; else VLOG_IS_ON.
#ifndef KASHI_COMPAT_ABSL_LOG_VLOG_IS_ON_H_
#define KASHI_COMPAT_ABSL_LOG_VLOG_IS_ON_H_

#if __has_include_next("absl/log/vlog_is_on.h")
#include_next "absl/log/vlog_is_on.h"
#else

#include "kashi_compat/log.h"

#define VLOG_IS_ON(level) ((level) <= ::kashi_compat::MaxVlogLevel())

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_LOG_VLOG_IS_ON_H_
