// XLA's path of kashi/hlo/ir/hlo_casting.h: Cast and DynCast.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_CASTING_UTILS_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_CASTING_UTILS_H_

#include "kashi/hlo/ir/hlo_casting.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_instruction.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_CASTING_UTILS_H_
