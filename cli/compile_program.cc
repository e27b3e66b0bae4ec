#include "cli/compile_program.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/base/status.h"

namespace kashi::cli {

absl::StatusOr<std::unique_ptr<Program>> CompileProgram(const HloModule& module, CompileOptions options,
                                                        const std::string& dump_dir) {
  options.keep_stages = !dump_dir.empty();
  const std::shared_ptr<const HloModule> lent(std::shared_ptr<void>(), &module);
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<Program> program, Program::Compile(lent, options));
  if (!dump_dir.empty()) KASHI_RETURN_IF_ERROR(MakeDirectory(dump_dir));
  for (const absl::Status& refusal : program->refusals()) {
    PrintWarning(
        absl::StrCat("the engine cpu leaves a part to the evaluator, which is an error of ours: ", refusal.message()));
  }
  if (const ObjectUse use = program->object_use(); !use.kept.ok()) PrintWarning(std::string(use.kept.message()));
  for (const auto& [name, text] : program->stages()) {
    KASHI_RETURN_IF_ERROR(WriteOutput((std::filesystem::path(dump_dir) / name).string(), text));
  }
  return program;
}

}  // namespace kashi::cli
