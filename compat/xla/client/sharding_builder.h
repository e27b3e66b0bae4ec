// The former path of xla/hlo/builder/sharding_builder.h.
#ifndef KASHI_COMPAT_XLA_CLIENT_SHARDING_BUILDER_H_
#define KASHI_COMPAT_XLA_CLIENT_SHARDING_BUILDER_H_

#include "xla/hlo/builder/sharding_builder.h"

#endif  // KASHI_COMPAT_XLA_CLIENT_SHARDING_BUILDER_H_
