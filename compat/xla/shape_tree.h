// XLA's path of kashi/array/shape_tree.h.
#ifndef KASHI_COMPAT_XLA_SHAPE_TREE_H_
#define KASHI_COMPAT_XLA_SHAPE_TREE_H_

#include "kashi/array/shape_tree.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/shape.h"
#include "xla/shape_util.h"
#include "xla/tuple_tree.h"

#endif  // KASHI_COMPAT_XLA_SHAPE_TREE_H_
