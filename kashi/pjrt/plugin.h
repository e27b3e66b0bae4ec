// The table of the plugin's functions: what GetPjrtApi gives.
#ifndef KASHI_PJRT_PLUGIN_H_
#define KASHI_PJRT_PLUGIN_H_

#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Lives as long as the process.
const PJRT_Api* Api();

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_PLUGIN_H_
