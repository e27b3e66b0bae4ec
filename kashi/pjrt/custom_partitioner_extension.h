// The extension of PJRT by which callers bring partitioners of custom calls.
#ifndef KASHI_PJRT_CUSTOM_PARTITIONER_EXTENSION_H_
#define KASHI_PJRT_CUSTOM_PARTITIONER_EXTENSION_H_

#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Lives as long as the process. `next`: the extension after it, or null.
PJRT_Extension_Base* CustomPartitionerExtension(PJRT_Extension_Base* next);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_CUSTOM_PARTITIONER_EXTENSION_H_
