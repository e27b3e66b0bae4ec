// XLA's path of what kashi/hlo/ir/hlo_module.h has of this.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_SCHEDULE_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_SCHEDULE_H_

#include "xla/hlo/ir/hlo_module.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_SCHEDULE_H_
