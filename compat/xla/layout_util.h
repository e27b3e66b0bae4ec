// XLA's path of kashi/array/layout_util.h.
#ifndef KASHI_COMPAT_XLA_LAYOUT_UTIL_H_
#define KASHI_COMPAT_XLA_LAYOUT_UTIL_H_

#include "kashi/array/layout_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/layout.h"
#include "xla/printer.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_LAYOUT_UTIL_H_
