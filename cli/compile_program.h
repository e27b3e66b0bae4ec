// Compiles a module for `run` and `diff`.
#ifndef KASHI_CLI_COMPILE_PROGRAM_H_
#define KASHI_CLI_COMPILE_PROGRAM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "kashi/engine/compile_options.h"
#include "kashi/engine/program.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

// Program::Compile. The module must outlive the program. Prints a warning for each part that the engine cpu leaves to
// the evaluator. dump_dir: where to write the stages of the compilation; "": nowhere.
absl::StatusOr<std::unique_ptr<Program>> CompileProgram(const HloModule& module, CompileOptions options,
                                                        const std::string& dump_dir = "");

}  // namespace kashi::cli

#endif  // KASHI_CLI_COMPILE_PROGRAM_H_
