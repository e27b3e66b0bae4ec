// XLA's path of kashi/literal/array3d.h.
#ifndef KASHI_COMPAT_XLA_ARRAY3D_H_
#define KASHI_COMPAT_XLA_ARRAY3D_H_

#include "kashi/literal/array3d.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array.h"
#include "xla/types.h"

#endif  // KASHI_COMPAT_XLA_ARRAY3D_H_
