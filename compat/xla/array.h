// XLA's path of kashi/literal/array.h.
#ifndef KASHI_COMPAT_XLA_ARRAY_H_
#define KASHI_COMPAT_XLA_ARRAY_H_

#include "kashi/literal/array.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/types.h"
#include "xla/util.h"

#endif  // KASHI_COMPAT_XLA_ARRAY_H_
