// XLA's newer path of kashi/hlo/attributes/collective_device_list.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_REPLICA_GROUP_H_
#define KASHI_COMPAT_XLA_HLO_IR_REPLICA_GROUP_H_

#include "xla/hlo/ir/collective_device_list.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_REPLICA_GROUP_H_
