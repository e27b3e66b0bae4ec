// The former path of xla/hlo/builder/xla_computation.h.
#ifndef KASHI_COMPAT_XLA_CLIENT_XLA_COMPUTATION_H_
#define KASHI_COMPAT_XLA_CLIENT_XLA_COMPUTATION_H_

#include "xla/hlo/builder/xla_computation.h"

#endif  // KASHI_COMPAT_XLA_CLIENT_XLA_COMPUTATION_H_
