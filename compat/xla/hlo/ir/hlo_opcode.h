// XLA's path of kashi/hlo/ir/hlo_opcode.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_OPCODE_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_OPCODE_H_

#include "kashi/hlo/ir/hlo_opcode.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_OPCODE_H_
