// The extension of PJRT for shardings. Without it, JAX would read the whole module to learn those of the results.
#ifndef KASHI_PJRT_SHARDINGS_EXTENSION_H_
#define KASHI_PJRT_SHARDINGS_EXTENSION_H_

#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Lives as long as the process. `next`: the extension after it, or null.
PJRT_Extension_Base* ShardingsExtension(PJRT_Extension_Base* next);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_SHARDINGS_EXTENSION_H_
