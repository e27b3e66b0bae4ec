// XLA's path of kashi/array/shape.h.
#ifndef KASHI_COMPAT_XLA_SHAPE_H_
#define KASHI_COMPAT_XLA_SHAPE_H_

#include "kashi/array/shape.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/layout.h"
#include "xla/primitive_util.h"
#include "xla/printer.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_SHAPE_H_
