// XLA's path of kashi/hlo/matcher/pattern_matcher.h: namespace match.
#ifndef KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_H_
#define KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_H_

#include "kashi/hlo/matcher/pattern_matcher.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/layout.h"
#include "xla/shape.h"
#include "xla/shape_util.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_PATTERN_MATCHER_H_
