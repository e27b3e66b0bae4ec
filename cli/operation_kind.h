// The kinds of operations that graphs colour.
#ifndef KASHI_CLI_OPERATION_KIND_H_
#define KASHI_CLI_OPERATION_KIND_H_

#include "absl/strings/string_view.h"
#include "kashi/hlo/ir/hlo_opcode.h"

namespace kashi::cli {

// "parameter", "constant", "collective", "call" (a fusion too), "matrix", "elementwise", "move" or "other".
absl::string_view OperationKindOf(HloOpcode opcode);

}  // namespace kashi::cli

#endif  // KASHI_CLI_OPERATION_KIND_H_
