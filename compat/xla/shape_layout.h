// XLA's path for a part of kashi/hlo/ir/hlo_module_config.h.
#ifndef KASHI_COMPAT_XLA_SHAPE_LAYOUT_H_
#define KASHI_COMPAT_XLA_SHAPE_LAYOUT_H_

#include "kashi/hlo/ir/hlo_module_config.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/layout_util.h"
#include "xla/shape_util.h"

#endif  // KASHI_COMPAT_XLA_SHAPE_LAYOUT_H_
