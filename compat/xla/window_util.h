// XLA's path of kashi/hlo/attributes/window_util.h.
#ifndef KASHI_COMPAT_XLA_WINDOW_UTIL_H_
#define KASHI_COMPAT_XLA_WINDOW_UTIL_H_

#include "kashi/hlo/attributes/window_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_WINDOW_UTIL_H_
