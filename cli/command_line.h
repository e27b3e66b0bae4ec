// The whole command as a function: for main(), and for a program that calls it many times.
#ifndef KASHI_CLI_COMMAND_LINE_H_
#define KASHI_CLI_COMMAND_LINE_H_

namespace kashi::internal::cli {

// Does what `kashi VERB …` asks for and returns the exit status. argv[0] is not looked at. Reads and writes what `stdin`,
// `stdout` and `stderr` are at the time. One call at a time; --durable and --input-limit hold for later calls too.
int RunCommandLine(int argc, const char* const* argv);

}  // namespace kashi::internal::cli

#endif  // KASHI_CLI_COMMAND_LINE_H_
