// XLA's path for a part of kashi/hlo/ir/hlo_module_config.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_COMPUTATION_LAYOUT_H_
#define KASHI_COMPAT_XLA_SERVICE_COMPUTATION_LAYOUT_H_

#include "kashi/hlo/ir/hlo_module_config.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape_layout.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_COMPUTATION_LAYOUT_H_
