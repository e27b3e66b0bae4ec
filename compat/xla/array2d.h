// XLA's path of kashi/literal/array2d.h.
#ifndef KASHI_COMPAT_XLA_ARRAY2D_H_
#define KASHI_COMPAT_XLA_ARRAY2D_H_

#include "kashi/literal/array2d.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array.h"
#include "xla/types.h"
#include "xla/util.h"

#endif  // KASHI_COMPAT_XLA_ARRAY2D_H_
