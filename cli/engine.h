// The engines of `kashi run`: what evaluates the program.
#ifndef KASHI_CLI_ENGINE_H_
#define KASHI_CLI_ENGINE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kashi/base/work_meter.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::cli {

struct EngineOptions {
  std::string name = "auto";    // auto, cpu or evaluator
  bool flush_denormals = true;  // of cpu
  bool excess_precision = true;
  std::string dump_dir;  // of cpu: write the stages of the compilation there; "": do not
  WorkLimits limits;     // of cpu: the time to compile, and whether to go on
};

// A program that is ready to run.
class Engine {
 public:
  virtual ~Engine() = default;
  // "cpu" or "evaluator".
  virtual const char* name() const = 0;
  // The module to run, which may be a compiled copy.
  virtual const HloModule& module() const = 0;
  virtual void ApplyTo(EvaluationOptions* options) const = 0;
};

// Whether this command was built with the engine cpu.
bool HasCompiledEngine();
// "yes" with the version of LLVM, or "no" with what CMake did not find: `kashi version` prints it.
absl::string_view AboutCompiledEngine();

// The module must outlive the engine. The name in the options is not `auto` (run_engine.h chooses). UNIMPLEMENTED for
// cpu where Kashi was built without it, or where the processor is too old.
absl::StatusOr<std::unique_ptr<Engine>> MakeEngine(const HloModule& module, const EngineOptions& options);

}  // namespace kashi::cli

#endif  // KASHI_CLI_ENGINE_H_
