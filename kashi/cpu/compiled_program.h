// A program with machine code for its fusions and loops. Its entry is a list of thunks. If that is not possible, the
// evaluator runs it instruction by instruction, with this machine code where it exists.
#ifndef KASHI_CPU_COMPILED_PROGRAM_H_
#define KASHI_CPU_COMPILED_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "kashi/buffers/buffer_assignment.h"
#include "kashi/engine/compile_options.h"
#include "kashi/engine/engine.h"
#include "kashi/evaluator/compiled_step.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/values/value.h"

namespace kashi::codegen {
struct Kernel;
}  // namespace kashi::codegen

namespace kashi::cpu {

class JitCode;
class JitCompiler;
class KernelStep;
struct NativeCode;
class Target;
class ThunkProgram;

class CompiledProgram : public engine::EngineProgram, public evaluator::CompiledSteps {
 public:
  // Compiles a copy of the module, which must have passed the verifier. Cost: some 5 ms, and 5 ms for each distinct
  // fusion. UNIMPLEMENTED if this processor is too old; the errors of Target::ForLevel.
  static absl::StatusOr<std::unique_ptr<CompiledProgram>> Compile(const HloModule& module,
                                                                  const CompileOptions& options = {},
                                                                  absl::Span<const engine::CompiledObject> known = {});
  ~CompiledProgram() override;

  // The program after all passes.
  const HloModule& module() const override { return *module_; }
  const evaluator::CompiledSteps* steps() const override { return this; }
  absl::StatusOr<Value> Execute(std::vector<Value> arguments, evaluator::EvaluationRun& run) const override;
  bool runs_on_memory() const override { return entry_ != nullptr; }
  absl::Status RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                           evaluator::EvaluationRun& run) const override;
  const buffers::BufferAssignment* buffers() const override;
  absl::Span<const absl::Status> refusals() const override { return refusals_; }
  const engine::CompileStages& stages() const override { return stages_; }
  absl::Span<const engine::CompiledObject> objects() const override;
  ObjectUse object_use() const override;
  int64_t kernel_count() const { return kernel_count_; }
  // The number of loops in native functions, without the loops within them.
  int64_t native_loop_count() const { return native_loop_count_; }
  // The number of loops, and the entry, that run as thunks (thunks/thunk_program.h).
  int64_t thunk_program_count() const { return thunk_program_count_; }
  const evaluator::CompiledStep* Find(const HloInstruction& instruction) const override;

 private:
  CompiledProgram() = default;
  absl::Status RunPasses(const CompileOptions& options, StopFunction check_stopped);
  // Emits and compiles the machine code.
  absl::Status Emit(const Target& target, const CompileOptions& options, absl::Span<const engine::CompiledObject> known,
                    StopFunction check_stopped);
  // Fuses instructions and emits a kernel for each fusion.
  absl::Status EmitKernels(const CompileOptions& options, JitCompiler& compiler, StopFunction check_stopped);
  const codegen::Kernel* FindKernel(const HloInstruction& fusion) const;
  // Whether a handler of the user computes a custom call that thunks compute otherwise.
  bool HasHandler(const evaluator::EvaluationRun& run) const;
  void AddEvaluatorSteps(const NumberOptions& numbers);
  absl::Status MakeThunks(const CompileOptions& options, NativeCode& natives, StopFunction check_stopped);
  // Execute with RunHooks::checker: runs once more without the plan of memory.
  absl::StatusOr<Value> ExecuteChecked(std::vector<Value> arguments, evaluator::EvaluationRun& run) const;
  void KeepBuffers(const CompileOptions& options, const buffers::BufferAssignment& buffers);
  void KeepStage(const CompileOptions& options, const std::string& name, const std::string& text);

  std::unique_ptr<HloModule> module_;
  std::unique_ptr<JitCode> code_;  // null: no kernels
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<evaluator::CompiledStep>> steps_;
  absl::flat_hash_map<const HloInstruction*, KernelStep*> kernels_;  // those of steps_
  std::unique_ptr<ThunkProgram> entry_;                              // null: evaluated step by step
  // Why fusions and loops have no code of their own: they break a premise of kernels, or LLVM's verifier refuses their
  // code.
  std::vector<absl::Status> refusals_;
  int64_t kernel_count_ = 0, native_loop_count_ = 0, thunk_program_count_ = 0;
  bool has_native_functions_ = false;
  std::vector<std::string> custom_calls_;  // targets that thunks compute
  engine::CompileStages stages_;
};

}  // namespace kashi::cpu

#endif  // KASHI_CPU_COMPILED_PROGRAM_H_
