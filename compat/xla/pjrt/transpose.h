// XLA's path of kashi/relayout/transpose_plan.h.
#ifndef KASHI_COMPAT_XLA_PJRT_TRANSPOSE_H_
#define KASHI_COMPAT_XLA_PJRT_TRANSPOSE_H_

#include "kashi/relayout/transpose_plan.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_PJRT_TRANSPOSE_H_
