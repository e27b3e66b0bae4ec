// LOG, VLOG and CHECK: those of absl/log.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_LOGGING_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_LOGGING_H_

#include "absl/base/log_severity.h"
#include "absl/log/check.h"
#include "absl/log/die_if_null.h"
#include "absl/log/log.h"
#include "absl/log/vlog_is_on.h"

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_LOGGING_H_
