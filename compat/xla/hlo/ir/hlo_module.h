// XLA's path of kashi/hlo/ir/hlo_module.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_MODULE_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_MODULE_H_

#include "kashi/hlo/ir/hlo_module.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/service/hlo.pb.h"
#include "xla/service/hlo_module_config.h"
#include "xla/service/name_uniquer.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_MODULE_H_
