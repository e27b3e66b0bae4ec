// XLA's readers of text: modules (ParseAndReturnUnverifiedModule) and parts of them (ParseShape, ParseSharding, …).
// There is no class HloParser, and no ParseOriginalValue.
#ifndef KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_
#define KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_

#include "kashi/array/shape_parser.h"
#include "kashi/hlo/attributes/collective_device_list.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/text/hlo_parser.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/hlo/ir/hlo_sharding.h"
#include "xla/service/hlo_module_config.h"
#include "xla/shape.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_PARSER_HLO_PARSER_H_
