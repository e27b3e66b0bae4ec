// XLA's switches from the command line: there are none (see kashi::DebugOptions).
#ifndef KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_
#define KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_

#include "kashi/hlo/hlo_module_config.h"
#include "kashi_compat/namespace_xla.h"

namespace xla {

inline DebugOptions GetDebugOptionsFromFlags() { return DebugOptions(); }

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_
