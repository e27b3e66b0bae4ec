// XLA's path of kashi/literal/array4d.h.
#ifndef KASHI_COMPAT_XLA_ARRAY4D_H_
#define KASHI_COMPAT_XLA_ARRAY4D_H_

#include "kashi/literal/array4d.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array.h"
#include "xla/array2d.h"
#include "xla/types.h"

#endif  // KASHI_COMPAT_XLA_ARRAY4D_H_
