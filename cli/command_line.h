// The whole command as a function: for main(), and for a program that calls it many times.
#ifndef KASHI_CLI_COMMAND_LINE_H_
#define KASHI_CLI_COMMAND_LINE_H_

namespace kashi::cli {

// Runs the command line and returns the exit status. Ignores argv[0]. Reads `stdin` and writes `stdout` and `stderr`.
// One call at a time; --durable and --input-limit stay set for later calls.
int RunCommandLine(int argc, const char* const* argv);

}  // namespace kashi::cli

#endif  // KASHI_CLI_COMMAND_LINE_H_
