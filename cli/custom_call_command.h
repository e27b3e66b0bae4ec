// Custom calls that a program of the user's computes: `kashi run --custom-call TARGET=COMMAND`.
//
// The command is run by the shell with one more argument, a directory that holds
//
//   call.txt               the instruction as HLO text: its shape, backend_config …
//   in0.npy, in1.npy, …    the operands, tuples flattened
//
// and into which it writes out0.npy, out1.npy, … of the result's types and sizes. It may be in any language that has .npy.
#ifndef KASHI_CLI_CUSTOM_CALL_COMMAND_H_
#define KASHI_CLI_CUSTOM_CALL_COMMAND_H_

#include <string>

#include "absl/status/status.h"

namespace kashi::internal::cli {

// Registers the command for the target, for this process. INVALID_ARGUMENT unless the text is TARGET=COMMAND.
absl::Status RegisterCustomCallCommand(const std::string& target_and_command);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_CUSTOM_CALL_COMMAND_H_
