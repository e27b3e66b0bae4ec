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
#include "kashi/codegen/linear_algebra.h"
#include "kashi/codegen/native_function.h"
#include "kashi/cpu/evaluator_steps.h"
#include "kashi/cpu/jit.h"
#include "kashi/cpu/kernel_step.h"
#include "kashi/cpu/target.h"
#include "kashi/cpu/thunks/native_thunk.h"
#include "kashi/cpu/thunks/thunk_emitter.h"
#include "kashi/cpu/vector_math.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/engine/object_cache.h"
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
  if (entry_ == nullptr || run.sees_instructions() || HasHandler(run)) return run.Call(entry, std::move(arguments));
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
  const auto random = run.random();
  const auto rng_state = run.rng_state();
  without_plan.random() = random;
  without_plan.rng_state() = rng_state;
  const auto by_steps = [&](absl::Span<Value> values) { return entry_->Run(values, run); };
  const auto natively = [&](absl::Span<Value> values) { return entry_->Run(values, without_plan); };
  KASHI_ASSIGN_OR_RETURN(std::vector<Value> more_copies, evaluator::StepChecker::CopyOf(arguments, run));
  KASHI_ASSIGN_OR_RETURN(Value result, run.CallBy(entry, std::move(arguments), by_steps));
  KASHI_ASSIGN_OR_RETURN(const Value expected, without_plan.Call(entry, std::move(copies)));
  evaluator::StepChecker& checker = *run.hooks().checker;
  KASHI_RETURN_IF_ERROR(checker.ComparePlanned(*entry.root_instruction(), expected, result, run));
  if (!has_native_functions_) return result;
  without_plan.random() = random;
  without_plan.rng_state() = rng_state;
  KASHI_ASSIGN_OR_RETURN(const Value native, without_plan.CallBy(entry, std::move(more_copies), natively));
  KASHI_RETURN_IF_ERROR(checker.ComparePlanned(*entry.root_instruction(), expected, native, run));
  return result;
}

absl::Status CompiledProgram::RunOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                          evaluator::EvaluationRun& run) const {
  if (HasHandler(run)) return absl::UnimplementedError("handlers of custom calls get values");
  return entry_->RunOnMemory(arguments, results, run);
}

bool CompiledProgram::HasHandler(const evaluator::EvaluationRun& run) const {
  if (custom_calls_.empty()) return false;
  const EvaluationOptions& options = run.options();
  const bool asks = options.custom_call_handler && !options.is_handled;
  return asks || absl::c_any_of(custom_calls_, [](const std::string& target) {
           return static_cast<bool>(CustomCallRegistry::Global().Find(target));
         });
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
  for (const HloComputation* computation : program->module_->computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (codegen::LinearAlgebraCallOf(*instruction)) {
        program->custom_calls_.push_back(instruction->custom_call_target());
      }
    }
  }
  KASHI_RETURN_IF_ERROR(program->Emit(target, options, known, check_stopped));
  return program;
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
ObjectUse CompiledProgram::object_use() const { return code_ == nullptr ? ObjectUse() : code_->object_use(); }

absl::Status CompiledProgram::Emit(const Target& target, const CompileOptions& options,
                                   absl::Span<const engine::CompiledObject> known, StopFunction check_stopped) {
  std::optional<engine::ObjectCache> cache;
  if (!options.cache_folder.empty()) {
    KASHI_ASSIGN_OR_RETURN(cache, engine::ObjectCache::Open(options.cache_folder));
  }
  const JitOptions jit_options = {MathAddresses(), options.keep_stages, options.keep_code, known,
                                  cache.has_value() ? &*cache : nullptr};
  KASHI_ASSIGN_OR_RETURN(JitCompiler compiler,
                         JitCompiler::Create(module_->name(), target, jit_options, check_stopped));
  KASHI_RETURN_IF_ERROR(EmitKernels(options, compiler, check_stopped));
  AddEvaluatorSteps(options.numbers);
  const auto find_kernel = [this](const HloInstruction& x) { return FindKernel(x); };
  NativeCode natives = {compiler, options.numbers, find_kernel};
  KASHI_RETURN_IF_ERROR(MakeThunks(options, natives, check_stopped));
  if (kernels_.empty() && natives.thunks.empty()) return absl::OkStatus();
  for (absl::Status& refusal : natives.refusals) refusals_.push_back(std::move(refusal));

  has_native_functions_ = !natives.thunks.empty();
  KASHI_ASSIGN_OR_RETURN(code_, std::move(compiler).Finish());
  KeepStage(options, "kernels.ll", code_->ir());
  KeepStage(options, "kernels.s", code_->assembly());
  for (const auto& [fusion, step] : kernels_) {
    KASHI_ASSIGN_OR_RETURN(codegen::KernelFunction* const function,
                           code_->Find<codegen::KernelFunction>(step->kernel().name));
    step->SetFunction(function);
  }
  for (NativeThunk* const thunk : natives.thunks) {
    KASHI_ASSIGN_OR_RETURN(codegen::NativeFunctionPointer* const function,
                           code_->Find<codegen::NativeFunctionPointer>(thunk->function().name));
    thunk->SetCode(function);
    native_loop_count_ += thunk->function().outer_loops;
  }
  return absl::OkStatus();
}

const codegen::Kernel* CompiledProgram::FindKernel(const HloInstruction& fusion) const {
  const auto step = kernels_.find(&fusion);
  return step == kernels_.end() ? nullptr : &step->second->kernel();
}

absl::Status CompiledProgram::EmitKernels(const CompileOptions& options, JitCompiler& compiler,
                                          StopFunction check_stopped) {
  KASHI_ASSIGN_OR_RETURN(const std::vector<HloInstruction*> fusions,
                         passes::FuseInstructions(module_.get(), ContextOf(options, check_stopped)));
  KeepStage(options, "fused.hlo", options.keep_stages ? module_->ToString() : "");
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
  for (size_t i = 0; i < fusions.size(); ++i) {
    const absl::StatusOr<codegen::Kernel>& kernel = table.entries()[numbers[i]].kernel;
    if (!kernel.ok()) continue;  // the evaluator runs the fusion
    auto step = std::make_unique<KernelStep>(*kernel, options.numbers);
    kernels_[fusions[i]] = step.get();
    steps_[fusions[i]] = std::move(step);
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
absl::Status CompiledProgram::MakeThunks(const CompileOptions& options, NativeCode& natives,
                                         StopFunction check_stopped) {
  if (passes::HasManualRegions(*module_)) return absl::OkStatus();  // thunks run on one device
  const auto find_step = [this](const HloInstruction& x) { return Find(x); };
  KASHI_ASSIGN_OR_RETURN(entry_, TryMakeThunks(*module_->entry_computation(), find_step, natives, check_stopped));
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
                                 TryMakeThunks(*instruction, find_step, natives, check_stopped));
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
