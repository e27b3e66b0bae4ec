// XLA's path of kashi/hlo/attributes/comparison_util.h.
#ifndef KASHI_COMPAT_XLA_COMPARISON_UTIL_H_
#define KASHI_COMPAT_XLA_COMPARISON_UTIL_H_

#include "kashi/hlo/attributes/comparison_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/primitive_util.h"
#include "xla/types.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_COMPARISON_UTIL_H_
