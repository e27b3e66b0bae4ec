// XLA's path of kashi/literal/error_spec.h.
#ifndef KASHI_COMPAT_XLA_ERROR_SPEC_H_
#define KASHI_COMPAT_XLA_ERROR_SPEC_H_

#include "kashi/literal/error_spec.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_ERROR_SPEC_H_
