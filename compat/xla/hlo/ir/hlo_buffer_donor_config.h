// XLA's path for a part of kashi/hlo/ir/hlo_module.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_BUFFER_DONOR_CONFIG_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_BUFFER_DONOR_CONFIG_H_

#include "xla/hlo/ir/hlo_module.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_BUFFER_DONOR_CONFIG_H_
