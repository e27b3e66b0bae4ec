// XLA's path of kashi/hlo/ir/hlo_computation.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_COMPUTATION_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_COMPUTATION_H_

#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/service/hlo.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_COMPUTATION_H_
