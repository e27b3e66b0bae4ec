// The functions of the C API: one overload of Call for each structure of arguments that the plugin knows.
#ifndef KASHI_PJRT_FUNCTIONS_H_
#define KASHI_PJRT_FUNCTIONS_H_

#include "absl/status/status.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// plugin.cc calls them: `args` is complete, also where the caller's structure is an older, shorter one.
#define PJRT_OFFERED(name, ...) absl::Status Call(PJRT_##name##_Args& args);
#define PJRT_NOT_OFFERED(name, ...)
#define PJRT_ABSENT(name, ...)
#include "kashi/pjrt/pjrt_functions.def"
#undef PJRT_OFFERED
#undef PJRT_NOT_OFFERED
#undef PJRT_ABSENT

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FUNCTIONS_H_
