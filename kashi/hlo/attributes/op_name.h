// Names of operations in the user's program: jit(step)/jvp(layer_3)/dot_general. The parts are separated by slashes
// outside of parentheses; the first one is the program.
//
// In a module that is not compiled yet, the op_names in a called function begin within the function. They continue the
// op_name of the call, and XLA joins the two when it inlines the call:
//
//   the call      jit(step)/layer_0/jit(layer)
//   in it         attention/dot_general, which is jit(step)/layer_0/jit(layer)/attention/dot_general
#ifndef KASHI_HLO_ATTRIBUTES_OP_NAME_H_
#define KASHI_HLO_ATTRIBUTES_OP_NAME_H_

#include <string>

#include "absl/strings/string_view.h"

namespace kashi::hlo {

// "jit(step)": all up to the first slash.
absl::string_view FirstPartOfOpName(absl::string_view op_name);

// The op_name in full of an instruction in a function whose call has the op_name `call`. An op_name that begins with
// the same program is full already. "" stays "", as for a call without a name.
std::string FullOpName(absl::string_view call, absl::string_view op_name);

}  // namespace kashi::hlo

#endif  // KASHI_HLO_ATTRIBUTES_OP_NAME_H_
