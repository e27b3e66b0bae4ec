// The former path of xla/hlo/builder/padding.h.
#ifndef KASHI_COMPAT_XLA_CLIENT_PADDING_H_
#define KASHI_COMPAT_XLA_CLIENT_PADDING_H_

#include "xla/hlo/builder/padding.h"

#endif  // KASHI_COMPAT_XLA_CLIENT_PADDING_H_
