// The engine evaluator: nothing is compiled.
#include "kashi/engine/engine.h"
#include "kashi/evaluator/evaluation_run.h"

namespace kashi::engine {
namespace {

class EvaluatorProgram : public EngineProgram {
 public:
  explicit EvaluatorProgram(const HloModule& module) : module_(module) {}
  const HloModule& module() const override { return module_; }
  absl::StatusOr<Value> Execute(std::vector<Value> arguments, evaluator::EvaluationRun& run) const override {
    return run.Call(*module_.entry_computation(), std::move(arguments));
  }

 private:
  const HloModule& module_;
};

class EvaluatorEngine : public Engine {
 public:
  absl::string_view name() const override { return "evaluator"; }
  bool keeps_module() const override { return true; }
  absl::StatusOr<std::unique_ptr<EngineProgram>> Compile(const HloModule& module, const CompileOptions&,
                                                         absl::Span<const CompiledObject>) const override {
    return std::make_unique<EvaluatorProgram>(module);
  }
};

}  // namespace

std::unique_ptr<Engine> MakeEvaluatorEngine() { return std::make_unique<EvaluatorEngine>(); }

}  // namespace kashi::engine
