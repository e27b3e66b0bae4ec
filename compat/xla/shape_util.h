// XLA's path of kashi/array/shape_util.h and shape_index.h.
#ifndef KASHI_COMPAT_XLA_SHAPE_UTIL_H_
#define KASHI_COMPAT_XLA_SHAPE_UTIL_H_

#include "kashi/array/shape_index.h"
#include "kashi/array/shape_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/layout.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/printer.h"
#include "xla/shape.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_SHAPE_UTIL_H_
