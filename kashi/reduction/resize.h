// Other sizes for all arrays of a module.
#ifndef KASHI_REDUCTION_RESIZE_H_
#define KASHI_REDUCTION_RESIZE_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kashi/reduction/module_edit.h"

namespace kashi::reduction {

// Renames the sizes of dimensions: parameters, constants and all arrays whose size nothing else decides get
// `new_size(size)`, which must not be larger than `size`. Attributes with sizes are adapted: slices, windows, paddings.
// All other shapes follow by shape inference. An error if they do not follow; even without one the module may be
// invalid, where arrays meet whose sizes do not fit any more.
absl::Status ResizeModule(ModuleEdit* edit, absl::FunctionRef<int64_t(int64_t size)> new_size);

}  // namespace kashi::reduction

#endif  // KASHI_REDUCTION_RESIZE_H_
