// XLA's older path of xla/hlo/ir/hlo_schedule.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_HLO_SCHEDULE_H_
#define KASHI_COMPAT_XLA_SERVICE_HLO_SCHEDULE_H_

#include "xla/hlo/ir/hlo_schedule.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_HLO_SCHEDULE_H_
