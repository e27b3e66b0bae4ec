#include "cli/engine.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/run_outputs.h"
#include "cli/verb.h"
#include "kashi/base/status.h"
#ifdef KASHI_HAS_CPU
#include "kashi/cpu/compiled_program.h"
#endif

namespace kashi::cli {
namespace {

class EvaluatorEngine : public Engine {
 public:
  EvaluatorEngine(const HloModule& module, bool excess_precision)
      : module_(module), excess_precision_(excess_precision) {}
  const char* name() const override { return "evaluator"; }
  const HloModule& module() const override { return module_; }
  void ApplyTo(EvaluationOptions* options) const override { options->excess_precision = excess_precision_; }

 private:
  const HloModule& module_;
  const bool excess_precision_;
};

#ifdef KASHI_HAS_CPU
class CompiledEngine : public Engine {
 public:
  explicit CompiledEngine(std::unique_ptr<internal::CompiledProgram> program) : program_(std::move(program)) {}
  const char* name() const override { return "cpu"; }
  const HloModule& module() const override { return program_->module(); }
  void ApplyTo(EvaluationOptions* options) const override { options->compiled = program_.get(); }

 private:
  std::unique_ptr<internal::CompiledProgram> program_;
};

absl::StatusOr<std::unique_ptr<Engine>> MakeCompiledEngine(const HloModule& module, const EngineOptions& options) {
  CompileOptions compile;
  compile.numbers.flush_denormals = options.flush_denormals;
  compile.numbers.excess_precision = options.excess_precision;
  compile.keep_stages = !options.dump_dir.empty();
  compile.limits = options.limits;
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<internal::CompiledProgram> program,
                         internal::CompiledProgram::Compile(module, compile));
  if (!options.dump_dir.empty()) KASHI_RETURN_IF_ERROR(MakeDirectory(options.dump_dir));
  for (const absl::Status& refusal : program->refusals()) {
    PrintWarning(
        absl::StrCat("the engine cpu leaves a part to the evaluator, which is an error of ours: ", refusal.message()));
  }
  for (const auto& [name, text] : program->stages()) {
    KASHI_RETURN_IF_ERROR(WriteOutput((std::filesystem::path(options.dump_dir) / name).string(), text));
  }
  return std::make_unique<CompiledEngine>(std::move(program));
}
#else
absl::StatusOr<std::unique_ptr<Engine>> MakeCompiledEngine(const HloModule&, const EngineOptions&) {
  return Unimplemented("this kashi was built without the compiled engine; use --engine evaluator (compiled engine: %s)",
                       AboutCompiledEngine());
}
#endif

}  // namespace

bool HasCompiledEngine() {
#ifdef KASHI_HAS_CPU
  return true;
#else
  return false;
#endif
}

absl::string_view AboutCompiledEngine() { return KASHI_COMPILED_ENGINE; }

absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const HloModule& module, const EngineOptions& options) {
  if (options.name == "cpu") return MakeCompiledEngine(module, options);
  return std::make_unique<EvaluatorEngine>(module, options.excess_precision);
}

}  // namespace kashi::cli
