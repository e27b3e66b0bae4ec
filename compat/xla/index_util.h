// XLA's path of kashi/array/index_util.h.
#ifndef KASHI_COMPAT_XLA_INDEX_UTIL_H_
#define KASHI_COMPAT_XLA_INDEX_UTIL_H_

#include "kashi/array/index_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_INDEX_UTIL_H_
