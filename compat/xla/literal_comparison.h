// XLA's path of kashi/literal/literal_comparison.h.
#ifndef KASHI_COMPAT_XLA_LITERAL_COMPARISON_H_
#define KASHI_COMPAT_XLA_LITERAL_COMPARISON_H_

#include "kashi/literal/literal_comparison.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/error_spec.h"
#include "xla/literal.h"

#endif  // KASHI_COMPAT_XLA_LITERAL_COMPARISON_H_
