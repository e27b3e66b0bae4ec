// Completions for shells and the manual page, made from the same table as --help.
#ifndef KASHI_CLI_COMPLETIONS_H_
#define KASHI_CLI_COMPLETIONS_H_

#include <string>

#include "cli/options.h"

namespace kashi::cli {

// A shell script that completes verbs, options, their values and file names.
std::string BashCompletions(const Command& command);
std::string ZshCompletions(const Command& command);
std::string FishCompletions(const Command& command);

// kashi(1), in the man macros of roff.
std::string ManPage(const Command& command);

}  // namespace kashi::cli

#endif  // KASHI_CLI_COMPLETIONS_H_
