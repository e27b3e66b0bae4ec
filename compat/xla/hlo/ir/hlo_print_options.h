// XLA's path of kashi/hlo/ir/hlo_print_options.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_PRINT_OPTIONS_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_PRINT_OPTIONS_H_

#include "kashi/hlo/ir/hlo_print_options.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_PRINT_OPTIONS_H_
