// XLA's path of kashi/hlo/attributes/debug_options.h: of the messages there, DebugOptions, which is a plain value here.
#ifndef KASHI_COMPAT_XLA_XLA_PB_H_
#define KASHI_COMPAT_XLA_XLA_PB_H_

#include "kashi/hlo/attributes/debug_options.h"
#include "kashi_compat/namespace_xla.h"
#include "xla/service/hlo.pb.h"
#include "xla/xla_data.pb.h"

#endif  // KASHI_COMPAT_XLA_XLA_PB_H_
