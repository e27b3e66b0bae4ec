// XLA's path of kashi/literal/literal.h.
#ifndef KASHI_COMPAT_XLA_LITERAL_H_
#define KASHI_COMPAT_XLA_LITERAL_H_

#include "kashi/literal/literal.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/index_util.h"
#include "xla/layout.h"
#include "xla/layout_util.h"
#include "xla/primitive_util.h"
#include "xla/printer.h"
#include "xla/shape.h"
#include "xla/shape_tree.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/bitmap.h"
#include "xla/types.h"
#include "xla/util.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_LITERAL_H_
