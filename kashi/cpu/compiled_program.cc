#include "kashi/cpu/compiled_program.h"

#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "kashi/base/status.h"
#include "kashi/codegen/kernel.h"
#include "kashi/codegen/kernel_support.h"
#include "kashi/codegen/native_loop.h"
#include "kashi/cpu/evaluator_steps.h"
#include "kashi/cpu/jit.h"
#include "kashi/cpu/kernel_step.h"
#include "kashi/cpu/native_loop_step.h"
#include "kashi/cpu/target.h"
#include "kashi/cpu/thunks/thunk_emitter.h"
#include "kashi/cpu/vector_math.h"
#include "kashi/evaluator/computation_plan.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_checker.h"
#include "kashi/passes/fuse.h"
#include "kashi/passes/inline_calls.h"
#include "kashi/passes/pipeline.h"

namespace kashi::cpu {
namespace {

// One kernel for all fusions with equal computations.
class KernelTable {
 public:
  struct Entry {
    const HloComputation* fused;
    absl::StatusOr<codegen::Kernel> kernel;  // or why there is none
  };

  // The place of the kernel for this computation; made if there is none yet.
  absl::StatusOr<size_t> FindOrMake(const HloComputation& fused, const NumberOptions& numbers, JitCompiler& compiler) {
    std::vector<size_t>& candidates = by_hash_[fused.Hash()];
    for (size_t i : candidates) {
      if (fused.Equal(*entries_[i].fused, /*layout_sensitive=*/false)) return i;
    }
    candidates.push_back(entries_.size());
    const std::string name = absl::StrCat("kernel", entries_.size());
    entries_.push_back({&fused, codegen::EmitKernel(fused, name, numbers, compiler.module())});
    KASHI_RETURN_IF_ERROR(compiler.CompileIfLarge());
    return entries_.size() - 1;
  }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  absl::flat_hash_map<size_t, std::vector<size_t>> by_hash_;
  std::vector<Entry> entries_;
};

absl::StatusOr<Target> TargetOf(const CompileOptions& options) {
  return options.target.empty() ? Target::Host() : Target::ForLevel(options.target);
}

bool AnyInstruction(const HloModule& module, absl::FunctionRef<bool(const HloInstruction&)> is_meant) {
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (is_meant(*instruction)) return true;
    }
  }
  return false;
}

// Users who keep stages look for errors of the engine: then passes are verified, too.
passes::PassContext ContextOf(const CompileOptions& options, StopFunction check_stopped) {
  return {codegen::KernelSupport(), options.numbers.excess_precision, /*verifies=*/options.keep_stages, check_stopped};
}

}  // namespace

CompiledProgram::~CompiledProgram() = default;

const evaluator::CompiledStep* CompiledProgram::Find(const HloInstruction& instruction) const {
  const auto step = steps_.find(&instruction);
  return step == steps_.end() ? nullptr : step->second.get();
}

absl::StatusOr<Value> CompiledProgram::Execute(std::vector<Value> arguments, evaluator::EvaluationRun& run) const {
  const HloComputation& entry = *module_->entry_computation();
  if (entry_ == nullptr || run.sees_instructions()) return run.Call(entry, std::move(arguments));
  if (run.hooks().checker != nullptr) return ExecuteChecked(std::move(arguments), run);
  return run.CallBy(entry, std::move(arguments), [&](absl::Span<Value> values) { return entry_->Run(values, run); });
}

absl::StatusOr<Value> CompiledProgram::ExecuteChecked(std::vector<Value> arguments,
                                                      evaluator::EvaluationRun& run) const {
  const HloComputation& entry = *module_->entry_computation();
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> copies, evaluator::StepChecker::CopyOf(arguments, run));
  evaluator::RunHooks hooks = run.hooks();
  hooks.checker = nullptr;
  hooks.profile = nullptr;
  EvaluationOptions options = run.options();
  options.on_call = nullptr;
  evaluator::EvaluationRun without_plan(std::move(options), hooks, run.limits());
  without_plan.random() = run.random();
  without_plan.rng_state() = run.rng_state();
  const auto body = [&](absl::Span<Value> values) { return entry_->Run(values, run); };
  KASHI_ASSIGN_OR_RETURN(Value result, run.CallBy(entry, std::move(arguments), body));
  KASHI_ASSIGN_OR_RETURN(const Value expected, without_plan.Call(entry, std::move(copies)));
  KASHI_RETURN_IF_ERROR(run.hooks().checker->ComparePlanned(*entry.root_instruction(), expected, result, run));
  return result;
}

absl::Status CompiledProgram::RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                          evaluator::EvaluationRun& run) const {
  return entry_->RunOnMemory(arguments, results, run);
}

const buffers::BufferAssignment* CompiledProgram::buffers() const {
  return entry_ == nullptr ? nullptr : &entry_->buffers();
}

void CompiledProgram::KeepStage(const CompileOptions& options, const std::string& name, const std::string& text) {
  if (options.keep_stages) stages_.emplace_back(name, text);
}

absl::StatusOr<std::unique_ptr<CompiledProgram>> CompiledProgram::Compile(
    const HloModule& module, const CompileOptions& options, absl::Span<const engine::CompiledObject> known) {
  KASHI_ASSIGN_OR_RETURN(const Target target, TargetOf(options));
  if (AnyInstruction(module,
                     buffers::IsExpectation)) {  // the engine runs only what a result needs, and checks have none
    return absl::UnimplementedError(
        "the compiled engine has no custom calls check.expect_* and interpreter.run_parallel: the evaluator has them");
  }
  std::unique_ptr<CompiledProgram> program(new CompiledProgram());
  program->module_ = module.Clone("");
  program->module_->clear_schedule();
  const WorkMeter meter(options.limits);
  const auto check_stopped = [&]() -> absl::Status {
    const absl::Status status = meter.Check();
    return status.ok() ? status : WithMessage(status, absl::StrCat(status.message(), ", before it was compiled"));
  };
  KASHI_RETURN_IF_ERROR(program->RunPasses(options, check_stopped));
  KASHI_RETURN_IF_ERROR(program->Emit(target, options, known, check_stopped));
  program->AddEvaluatorSteps(options.numbers);
  KASHI_RETURN_IF_ERROR(program->MakeThunks(options, check_stopped));
  return program;
}

absl::StatusOr<CompiledProgram::LoopTable> CompiledProgram::EmitNativeLoops(const NumberOptions& numbers,
                                                                            JitCompiler& compiler) {
  LoopTable loops;
  const auto is_native = [&](const HloInstruction& x) { return loops.contains(&x); };
  // A computation that only native loops run is part of them.
  KASHI_RETURN_IF_ERROR(
      passes::VisitComputationsRunAsAWhole(module_.get(), is_native, [&](HloComputation* computation) {
        for (const HloInstruction* instruction : computation->instructions()) {
          if (instruction->opcode() != HloOpcode::kWhile || instruction->HasControlDependencies()) continue;
          const std::string name = absl::StrCat("loop", loops.size());
          absl::StatusOr<std::optional<codegen::NativeLoop>> loop =
              codegen::TryEmitNativeLoop(*instruction, name, numbers, compiler.module());
          if (!loop.ok()) {
            refusals_.push_back(loop.status());
          } else if (loop->has_value()) {
            loops[instruction] = **std::move(loop);
          }
          KASHI_RETURN_IF_ERROR(compiler.CompileIfLarge());
        }
        return absl::OkStatus();
      }));
  return loops;
}

absl::Status CompiledProgram::RunPasses(const CompileOptions& options, StopFunction check_stopped) {
  int64_t number = 0;
  return passes::RunPasses(module_.get(), ContextOf(options, check_stopped),
                           [&](const passes::PassRow& pass, const HloModule& module) -> absl::Status {
                             if (!options.keep_stages) return absl::OkStatus();
                             KeepStage(options, absl::StrFormat("%02d-%s.hlo", ++number, pass.name), module.ToString());
                             return absl::OkStatus();
                           });
}

absl::Span<const engine::CompiledObject> CompiledProgram::objects() const {
  return code_ == nullptr ? absl::Span<const engine::CompiledObject>() : code_->objects();
}
int64_t CompiledProgram::reused_object_count() const { return code_ == nullptr ? 0 : code_->reused_object_count(); }

absl::Status CompiledProgram::Emit(const Target& target, const CompileOptions& options,
                                   absl::Span<const engine::CompiledObject> known, StopFunction check_stopped) {
  const JitOptions jit_options = {MathAddresses(), options.keep_stages, options.keep_code, known};
  KASHI_ASSIGN_OR_RETURN(JitCompiler compiler,
                         JitCompiler::Create(module_->name(), target, jit_options, check_stopped));
  KASHI_ASSIGN_OR_RETURN(const LoopTable loops, EmitNativeLoops(options.numbers, compiler));
  const auto is_native = [&](const HloInstruction& x) { return loops.contains(&x); };
  KASHI_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> fusions,
                         passes::FuseInstructions(module_.get(), ContextOf(options, check_stopped), is_native));
  KeepStage(options, "fused.hlo", options.keep_stages ? module_->ToString() : "");
  if (fusions.empty() && loops.empty()) return absl::OkStatus();

  KernelTable table;
  std::vector<size_t> numbers;  // of the kernel of each fusion
  for (const HloInstruction* fusion : fusions) {
    const HloComputation& fused = *fusion->fused_instructions_computation();
    KASHI_ASSIGN_OR_RETURN(const size_t number, table.FindOrMake(fused, options.numbers, compiler));
    numbers.push_back(number);
  }
  for (const KernelTable::Entry& entry : table.entries()) {
    if (!entry.kernel.ok()) refusals_.push_back(entry.kernel.status());
    kernel_count_ += entry.kernel.ok() ? 1 : 0;
  }
  native_loop_count_ = static_cast<int64_t>(loops.size());
  KASHI_ASSIGN_OR_RETURN(code_, std::move(compiler).Finish());
  KeepStage(options, "kernels.ll", code_->ir());
  KeepStage(options, "kernels.s", code_->assembly());
  for (size_t i = 0; i < fusions.size(); ++i) {
    const absl::StatusOr<codegen::Kernel>& kernel = table.entries()[numbers[i]].kernel;
    if (!kernel.ok()) continue;  // the evaluator runs the fusion
    KASHI_ASSIGN_OR_RETURN(codegen::KernelFunction* const function, code_->Find<codegen::KernelFunction>(kernel->name));
    steps_[fusions[i]] = std::make_unique<KernelStep>(*kernel, function, options.numbers);
  }
  for (const auto& [instruction, loop] : loops) {
    KASHI_ASSIGN_OR_RETURN(codegen::NativeLoopFunction* const function,
                           code_->Find<codegen::NativeLoopFunction>(loop.name));
    steps_[instruction] = std::make_unique<NativeLoopStep>(loop, function, options.numbers);
  }
  return absl::OkStatus();
}

void CompiledProgram::AddEvaluatorSteps(const NumberOptions& numbers) {
  for (const HloComputation* computation : module_->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (numbers.flush_denormals && evaluator::IsBf16Dot(*instruction)) {
        steps_[instruction] = std::make_unique<Bf16DotStep>();
      } else if (evaluator::IsFftOfOnePrecision(*instruction)) {
        steps_[instruction] = std::make_unique<FftStep>();
      }
    }
  }
}

// The entry, or else the outermost loops that can be.
absl::Status CompiledProgram::MakeThunks(const CompileOptions& options, StopFunction check_stopped) {
  if (passes::HasManualRegions(*module_)) return absl::OkStatus();  // thunks run on one device
  const auto find_step = [this](const HloInstruction& x) { return Find(x); };
  KASHI_ASSIGN_OR_RETURN(entry_,
                         TryMakeThunks(*module_->entry_computation(), find_step, options.numbers, check_stopped));
  if (entry_ != nullptr) {
    thunk_program_count_ = 1;
    KeepBuffers(options, entry_->buffers());
    return absl::OkStatus();
  }
  const auto is_compiled = [this](const HloInstruction& x) { return Find(x) != nullptr; };
  return passes::VisitComputationsRunAsAWhole(
      module_.get(), is_compiled, [&](HloComputation* computation) -> absl::Status {
        for (const HloInstruction* instruction : computation->instructions()) {
          if (instruction->opcode() != HloOpcode::kWhile || is_compiled(*instruction)) continue;
          KASHI_ASSIGN_OR_RETURN(std::unique_ptr<ThunkProgram> loop,
                                 TryMakeThunks(*instruction, find_step, options.numbers, check_stopped));
          if (loop == nullptr) continue;
          KeepBuffers(options, loop->buffers());
          steps_[instruction] = std::move(loop);
          ++thunk_program_count_;
        }
        return check_stopped();
      });
}

void CompiledProgram::KeepBuffers(const CompileOptions& options, const buffers::BufferAssignment& buffers) {
  if (!options.keep_stages) return;
  const std::string number = thunk_program_count_ <= 1 ? "" : absl::StrCat(".", thunk_program_count_);
  KeepStage(options, absl::StrCat("program", number, ".thunks"), buffers.StepsToString());
  KeepStage(options, absl::StrCat("program", number, ".buffers"), buffers.BuffersToString());
}

}  // namespace kashi::cpu
