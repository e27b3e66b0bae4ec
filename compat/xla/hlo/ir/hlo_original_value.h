// XLA's path of kashi/hlo/ir/original_value.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_ORIGINAL_VALUE_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_ORIGINAL_VALUE_H_

#include "kashi/hlo/ir/original_value.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_ORIGINAL_VALUE_H_
