// `kashi query --extract`: the instructions that are found, as a module of their own.
#ifndef KASHI_CLI_QUERY_EXTRACT_H_
#define KASHI_CLI_QUERY_EXTRACT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "cli/module_file.h"
#include "cli/verb.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::cli {

// Writes the part of a module (query/submodule.h) to the file `path`, and tells about it by `answers`, or adds it to
// these if the path is `-`. Prints remarks to standard error. A module that is not valid is an error.
void ExtractInstructions(const ModuleFile& file, const std::vector<const HloInstruction*>& found, int64_t with_operands,
                         const std::string& path, Answers* answers);

}  // namespace kashi::cli

#endif  // KASHI_CLI_QUERY_EXTRACT_H_
