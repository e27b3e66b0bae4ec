// XLA's path of kashi/array/tuple_tree.h.
#ifndef KASHI_COMPAT_XLA_TUPLE_TREE_H_
#define KASHI_COMPAT_XLA_TUPLE_TREE_H_

#include "kashi/array/tuple_tree.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

#endif  // KASHI_COMPAT_XLA_TUPLE_TREE_H_
