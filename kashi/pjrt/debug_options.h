// The options of XLA's compilers, which callers set by name for one compilation (`jax.jit(compiler_options=…)`).
#ifndef KASHI_PJRT_DEBUG_OPTIONS_H_
#define KASHI_PJRT_DEBUG_OPTIONS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/proto/compile_options.pb.h"

namespace kashi::pjrt {

// INVALID_ARGUMENT, in XLA's words, for a name that no version of XLA knows, and for a value of another type. Texts are
// read as XLA reads them: "True" and "False", numbers, names of enum values; lists have commas between their values.
absl::Status CheckDebugOption(absl::string_view name, const OptionOverrideProto& value);

// The value of an option that is a bool, and that CheckDebugOption accepts.
bool BoolOfDebugOption(const OptionOverrideProto& value);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_DEBUG_OPTIONS_H_
