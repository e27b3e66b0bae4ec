#include "kashi/cpu/executable.h"

#include <cstring>
#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/synchronization/mutex.h"
#include "kashi/array/shape_util.h"
#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/cpu/compiled_program.h"
#include "kashi/cpu/thunks/leaves.h"
#include "kashi/cpu/thunks/thunk_program.h"
#include "kashi/evaluator/check_arguments.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/hlo_evaluator.h"
#include "kashi/values/value_util.h"

namespace kashi {
namespace internal {
namespace {

bool DrawsNumbers(const HloModule& module) {
  return absl::c_any_of(module.computations(), [](const HloComputation* computation) {
    return absl::c_any_of(computation->instructions(), [](const HloInstruction* instruction) {
      return instruction->opcode() == HloOpcode::kRng || instruction->opcode() == HloOpcode::kRngGetAndUpdateState;
    });
  });
}

}  // namespace

// Runs that no call uses, for the next calls: they have the plans of the computations, and memory. A run whose program
// draws random numbers is used once, so that each call begins with the seed; one that failed is not used again.
class RunPool {
 public:
  explicit RunPool(const CompiledProgram& program) : keeps_runs_(!DrawsNumbers(program.module())) {
    options_.compiled = &program;
  }

  // Calls `use` with a run that no other thread uses, and that ends when the flag is set (null: never).
  template <typename Use>
  auto With(const std::atomic<bool>* cancelled, const Use& use) {
    std::unique_ptr<EvaluationRun> run = Take(cancelled);
    auto result = use(*run);
    if (keeps_runs_ && result.ok()) {
      const absl::MutexLock lock(&mutex_);
      free_.push_back(std::move(run));
    }
    return result;
  }

 private:
  std::unique_ptr<EvaluationRun> Take(const std::atomic<bool>* cancelled) {
    {
      const absl::MutexLock lock(&mutex_);
      for (auto run = free_.rbegin(); run != free_.rend(); ++run) {
        if ((*run)->options().cancelled != cancelled) continue;
        std::unique_ptr<EvaluationRun> taken = std::move(*run);
        free_.erase(std::next(run).base());
        return taken;
      }
    }
    EvaluationOptions options = options_;
    options.cancelled = cancelled;
    return std::make_unique<EvaluationRun>(std::move(options));
  }

  const bool keeps_runs_;
  EvaluationOptions options_;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<EvaluationRun>> free_;
};

namespace {

// The arrays of these shapes; -1: there are tokens or dynamic sizes among them.
int64_t CountArrays(absl::Span<const Shape* const> shapes) {
  int64_t count = 0;
  for (const Shape* shape : shapes) {
    if (!LeafBytes(*shape).has_value()) return -1;
    count += LeafCount(*shape);
  }
  return count;
}

}  // namespace
}  // namespace internal

using internal::CheckArguments;
using internal::CompiledProgram;
using internal::EvaluationRun;
using internal::LentBy;

Executable::Executable(std::unique_ptr<CompiledProgram> program)
    : program_(std::move(program)), runs_(std::make_unique<internal::RunPool>(*program_)) {
  const HloComputation& entry = *module().entry_computation();
  std::vector<const Shape*> parameters;
  for (const HloInstruction* parameter : entry.parameter_instructions()) parameters.push_back(&parameter->shape());
  argument_arrays_ = internal::CountArrays(parameters);
  result_arrays_ = internal::CountArrays({&entry.root_instruction()->shape()});
}
Executable::~Executable() = default;

absl::StatusOr<std::unique_ptr<Executable>> Executable::Compile(const HloModule& module,
                                                                const CompileOptions& options) {
  KASHI_ASSIGN_OR_RETURN(std::unique_ptr<CompiledProgram> program, CompiledProgram::Compile(module, options));
  return std::unique_ptr<Executable>(new Executable(std::move(program)));
}

const HloModule& Executable::module() const { return program_->module(); }
const std::vector<std::pair<std::string, std::string>>& Executable::stages() const { return program_->stages(); }

absl::StatusOr<Literal> Executable::Execute(absl::Span<const Literal* const> arguments) const {
  const HloComputation& entry = *module().entry_computation();
  KASHI_RETURN_IF_ERROR(CheckArguments(entry, arguments));
  return runs_->With(nullptr, [&](EvaluationRun& run) -> absl::StatusOr<Literal> {
    std::vector<Value> values;
    for (const Literal* argument : arguments) {
      KASHI_ASSIGN_OR_RETURN(Value value, Value::FromLiteral(*argument, run.budget(), LentBy(argument)));
      values.push_back(std::move(value));
    }
    KASHI_ASSIGN_OR_RETURN(const Value result, run.Call(entry, std::move(values)));
    return result.ToLiteral(entry.root_instruction()->shape());
  });
}

absl::StatusOr<Literal> Executable::Execute(absl::Span<const Literal* const> arguments,
                                            EvaluationOptions options) const {
  options.compiled = program_.get();
  return HloEvaluator(std::move(options)).Evaluate(module(), arguments);
}

absl::StatusOr<Value> Executable::ExecuteValues(std::vector<Value> arguments) const {
  return ExecuteValues(std::move(arguments), /*cancelled=*/nullptr);
}

absl::StatusOr<Value> Executable::ExecuteValues(std::vector<Value> arguments,
                                                const std::atomic<bool>* cancelled) const {
  return runs_->With(cancelled,
                     [&](EvaluationRun& run) { return run.Call(*module().entry_computation(), std::move(arguments)); });
}

absl::StatusOr<Value> Executable::ExecuteValues(std::vector<Value> arguments, EvaluationOptions options) const {
  options.compiled = program_.get();
  return EvaluationRun(std::move(options)).Call(*module().entry_computation(), std::move(arguments));
}

std::future<absl::StatusOr<Value>> Executable::ExecuteValuesAsync(std::vector<Value> arguments) const {
  return std::async(std::launch::async,
                    [this, values = std::move(arguments)]() mutable { return ExecuteValues(std::move(values)); });
}

absl::Status Executable::ExecuteOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
                                         const std::atomic<bool>* cancelled) const {
  const HloComputation& entry = *module().entry_computation();
  if (argument_arrays_ < 0 || result_arrays_ < 0) {
    return InvalidArgument("%s has tokens or dynamic sizes: call ExecuteValues", entry.name());
  }
  if (static_cast<int64_t>(arguments.size()) != argument_arrays_ ||
      static_cast<int64_t>(results.size()) != result_arrays_) {
    return InvalidArgument("%s has %d arrays in its arguments and %d in its result; got %d and %d pointers",
                           entry.name(), argument_arrays_, result_arrays_, arguments.size(), results.size());
  }
  return runs_->With(cancelled, [&](EvaluationRun& run) -> absl::Status {
    // The caller's memory is not between guard pages, that of values is.
    const bool is_direct = program_->entry() != nullptr && !internal::HasGuardPages();
    if (is_direct) return program_->entry()->RunOnMemory(arguments, results, run);
    std::vector<Value> values;
    const void* const* argument = arguments.data();
    for (const HloInstruction* parameter : entry.parameter_instructions()) {
      values.push_back(internal::BorrowLeaves(parameter->shape(), &argument));
    }
    KASHI_ASSIGN_OR_RETURN(const Value result, run.Call(entry, std::move(values)));
    void* const* leaf = results.data();
    internal::CopyLeaves(result, &leaf);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<Literal>> Executable::ExecuteOnDevices(
    std::vector<std::vector<Literal>> arguments_of_devices, EvaluationOptions options) const {
  options.compiled = program_.get();
  return RunOnDevices(module(), std::move(arguments_of_devices), options);
}

}  // namespace kashi
