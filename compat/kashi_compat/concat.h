// KASHI_COMPAT_CONCAT(a, b): one identifier of two, macros in them expanded first.
#ifndef KASHI_COMPAT_KASHI_COMPAT_CONCAT_H_
#define KASHI_COMPAT_KASHI_COMPAT_CONCAT_H_

#define KASHI_COMPAT_CONCAT_IMPL(a, b) a##b
#define KASHI_COMPAT_CONCAT(a, b) KASHI_COMPAT_CONCAT_IMPL(a, b)

#endif  // KASHI_COMPAT_KASHI_COMPAT_CONCAT_H_
