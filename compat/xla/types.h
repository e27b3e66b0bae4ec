// XLA's path of kashi/array/types.h: the native types of elements.
#ifndef KASHI_COMPAT_XLA_TYPES_H_
#define KASHI_COMPAT_XLA_TYPES_H_

#include "kashi/array/types.h"
#include "kashi_compat/eigen_names.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/tsl/platform/ml_dtypes.h"

#endif  // KASHI_COMPAT_XLA_TYPES_H_
