// XLA's path of kashi/hlo/ir/hlo_module_config.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_MODULE_CONFIG_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_MODULE_CONFIG_H_

#include "kashi/hlo/ir/hlo_module_config.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/service/computation_layout.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_MODULE_CONFIG_H_
