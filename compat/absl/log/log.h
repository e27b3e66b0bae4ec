// abseil's own header where it has one; else LOG, VLOG and their kin.
#ifndef KASHI_COMPAT_ABSL_LOG_LOG_H_
#define KASHI_COMPAT_ABSL_LOG_LOG_H_

#if __has_include_next("absl/log/log.h")
#include_next "absl/log/log.h"
#else

#include "absl/log/vlog_is_on.h"
#include "kashi_compat/log.h"

#define KASHI_COMPAT_LOG_INFO ::kashi_compat::LogMessage(__FILE__, __LINE__, ::absl::LogSeverity::kInfo)
#define KASHI_COMPAT_LOG_WARNING ::kashi_compat::LogMessage(__FILE__, __LINE__, ::absl::LogSeverity::kWarning)
#define KASHI_COMPAT_LOG_ERROR ::kashi_compat::LogMessage(__FILE__, __LINE__, ::absl::LogSeverity::kError)
#define KASHI_COMPAT_LOG_FATAL ::kashi_compat::LogMessageFatal(__FILE__, __LINE__)
#define KASHI_COMPAT_LOG_QFATAL ::kashi_compat::LogMessageQuietFatal(__FILE__, __LINE__)
#ifdef NDEBUG
#define KASHI_COMPAT_LOG_DFATAL KASHI_COMPAT_LOG_ERROR
#else
#define KASHI_COMPAT_LOG_DFATAL KASHI_COMPAT_LOG_FATAL
#endif

// LOG(INFO) << …; the severities are INFO, WARNING, ERROR, FATAL, QFATAL, DFATAL.
#define LOG(severity) KASHI_COMPAT_LOG_##severity.stream()
#define LOG_IF(severity, condition) !(condition) ? (void)0 : ::kashi_compat::LogVoidify() && LOG(severity)
#define VLOG(level) LOG_IF(INFO, VLOG_IS_ON(level))

#ifdef NDEBUG
#define DLOG(severity) LOG_IF(severity, false)
#define DLOG_IF(severity, condition) LOG_IF(severity, false && (condition))
#define DVLOG(level) LOG_IF(INFO, false && VLOG_IS_ON(level))
#else
#define DLOG(severity) LOG(severity)
#define DLOG_IF(severity, condition) LOG_IF(severity, condition)
#define DVLOG(level) VLOG(level)
#endif

#define KASHI_COMPAT_LOG_COUNTED(severity, is_due)                    \
  switch (0)                                                          \
  default:                                                            \
    if (static ::std::atomic<int> kashi_compat_count{0}; !(is_due)) { \
    } else                                                            \
      LOG(severity)
#define LOG_FIRST_N(severity, n) KASHI_COMPAT_LOG_COUNTED(severity, ::kashi_compat::IsFirstN(kashi_compat_count, (n)))
#define LOG_EVERY_N(severity, n) KASHI_COMPAT_LOG_COUNTED(severity, ::kashi_compat::IsEveryN(kashi_compat_count, (n)))
#define LOG_EVERY_POW_2(severity) \
  KASHI_COMPAT_LOG_COUNTED(severity, ::kashi_compat::IsEveryPowerOf2(kashi_compat_count))

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_LOG_LOG_H_
