// abseil's own header where it has one; else CHECK and its kin, in terms of kashi/base/check.h.
#ifndef KASHI_COMPAT_ABSL_LOG_CHECK_H_
#define KASHI_COMPAT_ABSL_LOG_CHECK_H_

#if __has_include_next("absl/log/check.h")
#include_next "absl/log/check.h"
#else

#include <cstring>

#include "kashi/base/check.h"

#define CHECK(condition) KASHI_CHECK(condition)
#define CHECK_EQ(a, b) KASHI_CHECK_EQ(a, b)
#define CHECK_NE(a, b) KASHI_CHECK_NE(a, b)
#define CHECK_LT(a, b) KASHI_CHECK_LT(a, b)
#define CHECK_LE(a, b) KASHI_CHECK_LE(a, b)
#define CHECK_GT(a, b) KASHI_CHECK_GT(a, b)
#define CHECK_GE(a, b) KASHI_CHECK_GE(a, b)
#define CHECK_OK(status) KASHI_CHECK_OK(status)
#define CHECK_STREQ(a, b) KASHI_CHECK(::std::strcmp(a, b) == 0)
#define CHECK_STRNE(a, b) KASHI_CHECK(::std::strcmp(a, b) != 0)
#define PCHECK(condition) KASHI_CHECK(condition)

#define QCHECK(condition) CHECK(condition)
#define QCHECK_EQ(a, b) CHECK_EQ(a, b)
#define QCHECK_NE(a, b) CHECK_NE(a, b)
#define QCHECK_LT(a, b) CHECK_LT(a, b)
#define QCHECK_LE(a, b) CHECK_LE(a, b)
#define QCHECK_GT(a, b) CHECK_GT(a, b)
#define QCHECK_GE(a, b) CHECK_GE(a, b)
#define QCHECK_OK(status) CHECK_OK(status)

#ifdef NDEBUG
// Compiled, but never run.
#define KASHI_COMPAT_IN_DEBUG_ONLY while (false)
#else
#define KASHI_COMPAT_IN_DEBUG_ONLY
#endif
#define DCHECK(condition) KASHI_DCHECK(condition)
#define DCHECK_EQ(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_EQ(a, b)
#define DCHECK_NE(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_NE(a, b)
#define DCHECK_LT(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_LT(a, b)
#define DCHECK_LE(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_LE(a, b)
#define DCHECK_GT(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_GT(a, b)
#define DCHECK_GE(a, b) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_GE(a, b)
#define DCHECK_OK(status) KASHI_COMPAT_IN_DEBUG_ONLY CHECK_OK(status)

#endif  // abseil has none

#endif  // KASHI_COMPAT_ABSL_LOG_CHECK_H_
