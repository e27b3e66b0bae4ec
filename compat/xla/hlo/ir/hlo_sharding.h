// XLA's path of kashi/hlo/attributes/hlo_sharding.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_SHARDING_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_SHARDING_H_

#include "kashi/hlo/attributes/hlo_sharding.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_SHARDING_H_
