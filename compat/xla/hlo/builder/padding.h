// XLA's path of kashi/hlo/builder/padding.h.
#ifndef KASHI_COMPAT_XLA_HLO_BUILDER_PADDING_H_
#define KASHI_COMPAT_XLA_HLO_BUILDER_PADDING_H_

#include "kashi/hlo/builder/padding.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/types.h"

#endif  // KASHI_COMPAT_XLA_HLO_BUILDER_PADDING_H_
