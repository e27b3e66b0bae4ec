// The extension of PJRT for layouts. Elements on a device are dense and row-major, whatever their layout: the layout of
// an array is what its callers see of it. It says which one they asked for, and how CopyToHost gives the elements out
// unless another one is asked for.
#ifndef KASHI_PJRT_LAYOUTS_EXTENSION_H_
#define KASHI_PJRT_LAYOUTS_EXTENSION_H_

#include "absl/status/status.h"
#include "kashi/array/layout.h"
#include "kashi/array/shape.h"
#include "kashi/pjrt/pjrt_c_api.h"

namespace kashi::pjrt {

// Gives the array a layout that callers see. INVALID_ARGUMENT for one with tiles, or that does not fit it.
absl::Status SetVisibleLayout(const Layout& layout, Shape* array);

// The layout that callers see; of a token, nothing.
Layout VisibleLayout(const Shape& shape);

// Lives as long as the process. `next`: the extension after it, or null.
PJRT_Extension_Base* LayoutsExtension(PJRT_Extension_Base* next);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_LAYOUTS_EXTENSION_H_
