// XLA's path of kashi/hlo/attributes/sharding_builder.h.
#ifndef KASHI_COMPAT_XLA_HLO_BUILDER_SHARDING_BUILDER_H_
#define KASHI_COMPAT_XLA_HLO_BUILDER_SHARDING_BUILDER_H_

#include "kashi/hlo/attributes/sharding_builder.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array.h"
#include "xla/shape_util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_HLO_BUILDER_SHARDING_BUILDER_H_
