// XLA's path of kashi/hlo/ir/hlo_instruction.h.
#ifndef KASHI_COMPAT_XLA_HLO_IR_HLO_INSTRUCTION_H_
#define KASHI_COMPAT_XLA_HLO_IR_HLO_INSTRUCTION_H_

#include "kashi/hlo/attributes/dimension_numbers_text.h"
#include "kashi/hlo/attributes/enum_text.h"
#include "kashi/hlo/attributes/fusion_kind.h"
#include "kashi/hlo/ir/hlo_casting.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/text/hlo_text.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/comparison_util.h"
#include "xla/hlo/ir/collective_device_list.h"
#include "xla/hlo/ir/hlo_opcode.h"
#include "xla/hlo/ir/hlo_print_options.h"
#include "xla/hlo/ir/hlo_sharding.h"
#include "xla/literal.h"
#include "xla/printer.h"
#include "xla/service/hlo.pb.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_IR_HLO_INSTRUCTION_H_
