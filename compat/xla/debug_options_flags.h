// XLA's switches, with their defaults: the environment variable XLA_FLAGS is not read.
#ifndef KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_
#define KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_

#include "xla/xla.pb.h"

namespace xla {

inline DebugOptions DefaultDebugOptionsIgnoringFlags() { return DebugOptions(); }
inline DebugOptions GetDebugOptionsFromFlags() { return DebugOptions(); }

}  // namespace xla

#endif  // KASHI_COMPAT_XLA_DEBUG_OPTIONS_FLAGS_H_
