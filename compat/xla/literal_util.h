// XLA's path of kashi/literal/literal_util.h and fake_literal.h.
#ifndef KASHI_COMPAT_XLA_LITERAL_UTIL_H_
#define KASHI_COMPAT_XLA_LITERAL_UTIL_H_

#include "kashi/literal/fake_literal.h"
#include "kashi/literal/literal_util.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/index_util.h"
#include "xla/layout.h"
#include "xla/layout_util.h"
#include "xla/literal.h"
#include "xla/primitive_util.h"
#include "xla/shape_util.h"
#include "xla/tsl/lib/core/bitmap.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_LITERAL_UTIL_H_
