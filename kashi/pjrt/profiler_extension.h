// The extension of PJRT for profiles: JAX's traces (jax.profiler) then have rows for each device of Kashi, with its
// programs and their steps.
#ifndef KASHI_PJRT_PROFILER_EXTENSION_H_
#define KASHI_PJRT_PROFILER_EXTENSION_H_

#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Lives as long as the process. `next`: the extension after it, or null.
PJRT_Extension_Base* ProfilerExtension(PJRT_Extension_Base* next);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_PROFILER_EXTENSION_H_
