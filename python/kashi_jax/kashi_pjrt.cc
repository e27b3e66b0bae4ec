// The one symbol of the plugin.
#include "kashi/pjrt/pjrt_c_api.h"
#include "kashi/pjrt/plugin.h"

extern "C" __attribute__((visibility("default"))) const PJRT_Api* GetPjrtApi() { return kashi::pjrt::Api(); }
