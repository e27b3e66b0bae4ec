// Custom calls computed by a command of the user: `kashi run --custom-call TARGET=COMMAND`.
//
// The shell runs the command with one more argument, a directory with the files
//
//   call.txt               the instruction as HLO text: its shape, backend_config …
//   in0.npy, in1.npy, …    the operands, tuples flattened
//
// The command writes out0.npy, out1.npy, … there, with the types and sizes of the result. Any language that can read
// and write .npy will do.
#ifndef KASHI_CLI_CUSTOM_CALL_COMMAND_H_
#define KASHI_CLI_CUSTOM_CALL_COMMAND_H_

#include <string>

#include "absl/status/status.h"

namespace kashi::cli {

// Registers the command for the target, for this process. INVALID_ARGUMENT unless the text is TARGET=COMMAND.
absl::Status RegisterCustomCallCommand(const std::string& target_and_command);

}  // namespace kashi::cli

#endif  // KASHI_CLI_CUSTOM_CALL_COMMAND_H_
