// XLA's path of kashi/array/permutation_util.h.
#ifndef KASHI_COMPAT_XLA_PERMUTATION_UTIL_H_
#define KASHI_COMPAT_XLA_PERMUTATION_UTIL_H_

#include "kashi/array/permutation_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/types.h"
#include "xla/util.h"

#endif  // KASHI_COMPAT_XLA_PERMUTATION_UTIL_H_
