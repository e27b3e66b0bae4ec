// The former path of xla/hlo/builder/xla_builder.h.
#ifndef KASHI_COMPAT_XLA_CLIENT_XLA_BUILDER_H_
#define KASHI_COMPAT_XLA_CLIENT_XLA_BUILDER_H_

#include "xla/hlo/builder/xla_builder.h"

#endif  // KASHI_COMPAT_XLA_CLIENT_XLA_BUILDER_H_
