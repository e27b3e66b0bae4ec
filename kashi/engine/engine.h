// Engine: one way to run a module. Callers use Program (program.h); this header is for authors of engines.
//
// An engine registers itself when the process starts:
//
//   const bool registered = RegisterEngine(std::make_unique<MyEngine>());
//
// The evaluator is always there. The engine cpu is there if kashi::cpu is linked.
#ifndef KASHI_ENGINE_ENGINE_H_
#define KASHI_ENGINE_ENGINE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kashi/base/fingerprint.h"
#include "kashi/engine/compile_options.h"
#include "kashi/engine/device_memory.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::evaluator {
class EvaluationRun;
class CompiledSteps;
}  // namespace kashi::evaluator

namespace kashi::buffers {
struct BufferAssignment;
}  // namespace kashi::buffers

namespace kashi::passes {
class CodeSupport;
}  // namespace kashi::passes

namespace kashi::engine {

// The text of a stage of the compilation, and its name, which is a file name.
using CompileStages = std::vector<std::pair<std::string, std::string>>;

// Object code of a part of a program. The key is a hash of all inputs: the code before LLVM, the
// target and its features, the version of the compiler.
struct CompiledObject {
  base::Fingerprint key;
  std::string code;
};

// A module that one engine has prepared. All functions may be called by several threads at once.
class EngineProgram {
 public:
  virtual ~EngineProgram() = default;
  // The module that runs: the one that was compiled, or a copy after the passes of the engine.
  virtual const HloModule& module() const = 0;
  // Runs the entry; takes the arguments, which are in Engine::memory, as the result. `run` has the device, the limits
  // and the observers of this run, and the plans of the evaluator, which runs the parts that the engine cannot run:
  // EvaluationRun::Call and CallBy.
  virtual absl::StatusOr<Value> Execute(std::vector<Value> arguments, evaluator::EvaluationRun& run) const = 0;
  // Machine code for instructions that the evaluator runs one by one (RunHooks::compiled); null: there is none.
  virtual const evaluator::CompiledSteps* steps() const { return nullptr; }
  // Executes on the caller's memory, without a Value (see Program::ExecuteOnMemory). UNIMPLEMENTED if this
  // program cannot: then its values use the caller's memory. Only called if runs_on_memory.
  virtual bool runs_on_memory() const { return false; }
  virtual absl::Status RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                   evaluator::EvaluationRun& run) const;
  // The place of each array during a run; null: not known in advance.
  virtual const buffers::BufferAssignment* buffers() const { return nullptr; }
  // Program::refusals and Program::stages.
  virtual absl::Span<const absl::Status> refusals() const { return {}; }
  virtual const CompileStages& stages() const;
  // With CompileOptions::keep_code: its object code.
  virtual absl::Span<const CompiledObject> objects() const { return {}; }
  // Program::object_use.
  virtual ObjectUse object_use() const { return {}; }
};

class Engine {
 public:
  virtual ~Engine() = default;
  virtual absl::string_view name() const = 0;
  // Where its programs have their arguments and results: the values of EngineProgram::Execute.
  virtual const DeviceMemory& memory() const { return HostMemory(); }
  // Whether its programs run the given module itself, which then must outlive them and not change.
  virtual bool keeps_module() const = 0;
  // What its passes may assume about its code (kashi/passes/code_support.h); null: it has no passes.
  virtual const passes::CodeSupport* code_support() const { return nullptr; }
  // The module has passed the verifier. UNIMPLEMENTED if the engine cannot run it, or not on this processor. known:
  // object code of an earlier compilation, which is used where the key is the same; only valid during the call.
  virtual absl::StatusOr<std::unique_ptr<EngineProgram>> Compile(const HloModule& module, const CompileOptions& options,
                                                                 absl::Span<const CompiledObject> known) const = 0;
};

// Always true; dies if there is an engine of this name.
bool RegisterEngine(std::unique_ptr<Engine> engine);
// Null: there is no engine of this name.
const Engine* FindEngine(absl::string_view name);
// INVALID_ARGUMENT, with the names, if there is none; UNIMPLEMENTED, with the reason, if this build lacks it.
absl::StatusOr<const Engine*> EngineOfName(absl::string_view name);
// The names of all engines, in alphabetical order; also of those that this build lacks.
std::vector<std::string> EngineNames();
// "yes" with the version of LLVM, or "no" with the reason: whether Kashi was built with the engine cpu.
absl::string_view AboutCompiledEngine();

std::unique_ptr<Engine> MakeEvaluatorEngine();

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_ENGINE_H_
