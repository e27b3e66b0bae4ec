// XLA's path of kashi/hlo/builder/xla_builder.h.
#ifndef KASHI_COMPAT_XLA_HLO_BUILDER_XLA_BUILDER_H_
#define KASHI_COMPAT_XLA_HLO_BUILDER_XLA_BUILDER_H_

#include "kashi/hlo/builder/xla_builder.h"
#include "kashi/hlo/builder/xla_builder_friend.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/comparison_util.h"
#include "xla/hlo/builder/padding.h"
#include "xla/hlo/builder/xla_computation.h"
#include "xla/hlo/ir/hlo_sharding.h"
#include "xla/literal.h"
#include "xla/literal_util.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_BUILDER_XLA_BUILDER_H_
