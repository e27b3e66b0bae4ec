// XLA's path of kashi/hlo/ir/name_uniquer.h.
#ifndef KASHI_COMPAT_XLA_SERVICE_NAME_UNIQUER_H_
#define KASHI_COMPAT_XLA_SERVICE_NAME_UNIQUER_H_

#include "kashi/hlo/ir/name_uniquer.h"
#include "kashi_compat/namespace_xla.h"

#endif  // KASHI_COMPAT_XLA_SERVICE_NAME_UNIQUER_H_
