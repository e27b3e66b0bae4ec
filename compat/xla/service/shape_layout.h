// XLA's older path of xla/shape_layout.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_SHAPE_LAYOUT_H_
#define KASHI_COMPAT_XLA_SERVICE_SHAPE_LAYOUT_H_

#include "xla/shape_layout.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_SHAPE_LAYOUT_H_
