// XLA's path of kashi/array/layout.h.
#ifndef KASHI_COMPAT_XLA_LAYOUT_H_
#define KASHI_COMPAT_XLA_LAYOUT_H_

#include "kashi/array/layout.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/printer.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_LAYOUT_H_
