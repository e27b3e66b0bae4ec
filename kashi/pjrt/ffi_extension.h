// The extension of PJRT for foreign functions.
#ifndef KASHI_PJRT_FFI_EXTENSION_H_
#define KASHI_PJRT_FFI_EXTENSION_H_

#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Lives as long as the process.
PJRT_Extension_Base* FfiExtension();

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_EXTENSION_H_
