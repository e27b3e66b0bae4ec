// The former path of xla/tsl/platform/ml_dtypes.h.
#ifndef KASHI_COMPAT_TSL_PLATFORM_ML_DTYPES_H_
#define KASHI_COMPAT_TSL_PLATFORM_ML_DTYPES_H_

#include "xla/tsl/platform/ml_dtypes.h"

#endif  // KASHI_COMPAT_TSL_PLATFORM_ML_DTYPES_H_
