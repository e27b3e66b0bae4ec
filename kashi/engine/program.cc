#include "kashi/engine/program.h"

#include <cstdlib>

#include "kashi/base/guard_pages.h"
#include "kashi/base/status.h"
#include "kashi/engine/device_memory.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/engine_choice.h"
#include "kashi/engine/program_door.h"
#include "kashi/engine/run_pool.h"
#include "kashi/engine/serialized_program.h"
#include "kashi/evaluator/check_arguments.h"
#include "kashi/evaluator/literal_run.h"
#include "kashi/values/value_util.h"
#include "kashi/values/writable.h"

namespace kashi {

using engine::CompiledObject;
using engine::Engine;
using engine::EngineProgram;
using engine::ProgramDoor;
using engine::RunPool;
using evaluator::EvaluationRun;
using evaluator::RunHooks;
using values::BorrowLeaves;
using values::CopyLeavesTo;
namespace {

// The arrays of a shape, or -1: there are tokens or dynamic sizes in it.
int64_t CountArrays(const Shape& shape) {
  if (!shape.IsTuple()) return shape.IsArray() && shape.is_static() ? 1 : -1;
  int64_t count = 0;
  for (const Shape& element : shape.tuple_shapes()) {
    const int64_t arrays = CountArrays(element);
    if (arrays < 0) return -1;
    count += arrays;
  }
  return count;
}

int64_t CountArgumentArrays(const HloComputation& entry) {
  int64_t count = 0;
  for (const HloInstruction* parameter : entry.parameter_instructions()) {
    const int64_t arrays = CountArrays(parameter->shape());
    if (arrays < 0) return -1;
    count += arrays;
  }
  return count;
}

}  // namespace

struct Program::Parts {
  const Engine* engine;
  std::string target;
  NumberOptions numbers;
  std::string text;
  std::unique_ptr<EngineProgram> program;
  std::shared_ptr<const HloModule> source;
};

namespace {

// A program and the module that it runs, if that is not its own.
std::shared_ptr<const EngineProgram> WithModule(std::unique_ptr<EngineProgram> program,
                                                std::shared_ptr<const HloModule> module) {
  struct Both {
    std::shared_ptr<const HloModule> module;  // it is freed last
    std::unique_ptr<EngineProgram> program;
  };
  const auto both = std::make_shared<Both>(Both{std::move(module), std::move(program)});
  return std::shared_ptr<const EngineProgram>(both, both->program.get());
}

}  // namespace

Program::Program(Parts parts)
    : engine_(*parts.engine),
      target_(std::move(parts.target)),
      numbers_(parts.numbers),
      text_(std::move(parts.text)),
      program_(WithModule(std::move(parts.program), std::move(parts.source))),
      argument_arrays_(CountArgumentArrays(*module().entry_computation())),
      result_arrays_(CountArrays(module().entry_computation()->root_instruction()->shape())) {
  EvaluationOptions options;
  RunHooks hooks;
  ProgramDoor::Complete(*this, &options, &hooks);
  runs_ = std::make_unique<RunPool>(module(), std::move(options), hooks);
}
Program::~Program() = default;

absl::StatusOr<Program::Parts> Program::CompileParts(const HloModule& module, const CompileOptions& given,
                                                     absl::Span<const CompiledObject> known) {
  CompileOptions options = given;
  const char* const cache_folder = std::getenv("KASHI_CACHE_DIR");
  if (options.cache_folder.empty() && cache_folder != nullptr) options.cache_folder = cache_folder;
  const auto compile_by = [&](const std::string& name) -> absl::StatusOr<Parts> {
    Parts parts;
    const absl::StatusOr<const Engine*> found = engine::EngineOfName(name);
    if (absl::IsInvalidArgument(found.status())) {
      return InvalidArgument("%s; or auto, for the one that pays", found.status().message());
    }
    KASHI_ASSIGN_OR_RETURN(parts.engine, found);
    parts.target = options.target;
    parts.numbers = options.numbers;
    if (options.keep_code) parts.text = module.ToString();
    KASHI_ASSIGN_OR_RETURN(parts.program, parts.engine->Compile(module, options, known));
    return parts;
  };
  if (options.engine != "auto") return compile_by(options.engine);
  absl::StatusOr<Parts> parts = compile_by(engine::ChooseEngine(module, options));
  // The evaluator replaces an engine that was chosen only for its speed.
  return absl::IsUnimplemented(parts.status()) ? compile_by("evaluator") : std::move(parts);
}

absl::StatusOr<std::unique_ptr<Program>> Program::Compile(std::shared_ptr<const HloModule> module,
                                                          const CompileOptions& options) {
  KASHI_ASSIGN_OR_RETURN(Parts parts, CompileParts(*module, options, {}));
  if (parts.engine->keeps_module()) parts.source = std::move(module);
  return std::unique_ptr<Program>(new Program(std::move(parts)));
}

absl::StatusOr<std::unique_ptr<Program>> Program::Compile(const HloModule& module, const CompileOptions& options) {
  KASHI_ASSIGN_OR_RETURN(Parts parts, CompileParts(module, options, {}));
  if (parts.engine->keeps_module()) {
    CompileOptions chosen = options;
    chosen.engine = std::string(parts.engine->name());
    return Compile(std::shared_ptr<const HloModule>(module.Clone("")), chosen);
  }
  return std::unique_ptr<Program>(new Program(std::move(parts)));
}

absl::StatusOr<std::string> Program::Serialize() const {
  if (text_.empty()) {
    return absl::FailedPreconditionError("the program was compiled without CompileOptions::keep_code");
  }
  const absl::Span<const CompiledObject> objects = program_->objects();
  return engine::WriteProgram({std::string(engine()), target_, numbers_, text_, {objects.begin(), objects.end()}});
}

absl::StatusOr<std::unique_ptr<Program>> Program::Deserialize(absl::string_view bytes, const CompileOptions& options) {
  KASHI_ASSIGN_OR_RETURN(const engine::SerializedProgram read, engine::ReadProgram(bytes));
  KASHI_ASSIGN_OR_RETURN(std::shared_ptr<const HloModule> module, engine::ReadModule(read));
  CompileOptions of_program = options;
  of_program.engine = read.engine;
  of_program.target = read.target;
  of_program.numbers = read.numbers;
  KASHI_ASSIGN_OR_RETURN(Parts parts, CompileParts(*module, of_program, read.objects));
  if (parts.engine->keeps_module()) parts.source = std::move(module);
  return std::unique_ptr<Program>(new Program(std::move(parts)));
}

absl::string_view Program::engine() const { return engine_.name(); }
const HloModule& Program::module() const { return program_->module(); }
const std::vector<std::pair<std::string, std::string>>& Program::stages() const { return program_->stages(); }
absl::Span<const absl::Status> Program::refusals() const { return program_->refusals(); }
ObjectUse Program::object_use() const { return program_->object_use(); }

absl::StatusOr<Literal> Program::Execute(absl::Span<const Literal* const> arguments) const {
  return runs_->With(nullptr, [&](EvaluationRun& run) { return ProgramDoor::CallOnLiterals(*this, run, arguments); });
}

absl::StatusOr<Literal> Program::Execute(absl::Span<const Literal* const> arguments, EvaluationOptions options) const {
  return ProgramDoor::CallOnLiterals(*this, *ProgramDoor::NewRun(*this, std::move(options), {}), arguments);
}

absl::StatusOr<Value> Program::ExecuteValues(std::vector<Value> arguments) const {
  return ExecuteValues(std::move(arguments), /*cancelled=*/nullptr);
}

absl::StatusOr<Value> Program::ExecuteValues(std::vector<Value> arguments, const std::atomic<bool>* cancelled) const {
  return runs_->With(cancelled,
                     [&](EvaluationRun& run) { return ProgramDoor::Call(*this, run, std::move(arguments)); });
}

absl::StatusOr<Value> Program::ExecuteValues(std::vector<Value> arguments, EvaluationOptions options) const {
  const std::unique_ptr<EvaluationRun> run = ProgramDoor::NewRun(*this, std::move(options), {});
  KASHI_RETURN_IF_ERROR(run->CheckAffordable(*module().entry_computation()));
  return ProgramDoor::Call(*this, *run, std::move(arguments));
}

std::future<absl::StatusOr<Value>> Program::ExecuteValuesAsync(std::vector<Value> arguments) const {
  return std::async(std::launch::async,
                    [this, values = std::move(arguments)]() mutable { return ExecuteValues(std::move(values)); });
}

absl::Status Program::ExecuteOnMemory(absl::Span<const void* const> arguments, absl::Span<void* const> results,
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
    const bool is_direct = program_->runs_on_memory() && !base::HasGuardPages();
    if (is_direct) return program_->RunOnMemory(arguments, results, run);
    std::vector<Value> values;
    const void* const* argument = arguments.data();
    for (const HloInstruction* parameter : entry.parameter_instructions()) {
      values.push_back(BorrowLeaves(parameter->shape(), &argument));
    }
    KASHI_ASSIGN_OR_RETURN(const Value result, ProgramDoor::ExecuteOnHost(*this, std::move(values), run));
    CopyLeavesTo(result, results);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<Literal>> Program::ExecuteOnDevices(std::vector<std::vector<Literal>> arguments_of_devices,
                                                               const EvaluationOptions& options,
                                                               std::optional<DeviceCounts> counts) const {
  return ProgramDoor::ExecuteOnDevices(*this, std::move(arguments_of_devices), options, {}, counts);
}

namespace engine {

const buffers::BufferAssignment* ProgramDoor::BuffersOf(const Program& program) { return program.program_->buffers(); }

int64_t ProgramDoor::CodeBytes(const Program& program) {
  int64_t bytes = 0;
  for (const CompiledObject& object : program.program_->objects()) bytes += static_cast<int64_t>(object.code.size());
  return bytes;
}

void ProgramDoor::Complete(const Program& program, EvaluationOptions* options, evaluator::RunHooks* hooks) {
  options->excess_precision = program.numbers_.excess_precision;
  hooks->compiled = program.program_->steps();
}

std::unique_ptr<evaluator::EvaluationRun> ProgramDoor::NewRun(const Program& program, EvaluationOptions options,
                                                              evaluator::RunHooks hooks) {
  Complete(program, &options, &hooks);
  return std::make_unique<evaluator::EvaluationRun>(std::move(options), hooks);
}

const DeviceMemory& ProgramDoor::MemoryOf(const Program& program) { return program.engine_.memory(); }

absl::StatusOr<Value> ProgramDoor::ExecuteOnHost(const Program& program, std::vector<Value> arguments,
                                                 evaluator::EvaluationRun& run) {
  const DeviceMemory& memory = MemoryOf(program);
  if (&memory == &HostMemory()) return program.program_->Execute(std::move(arguments), run);
  for (Value& argument : arguments) {
    KASHI_ASSIGN_OR_RETURN(argument, ToDevice(memory, std::move(argument), run.budget()));
  }
  KASHI_ASSIGN_OR_RETURN(Value result, program.program_->Execute(std::move(arguments), run));
  return ToHost(memory, std::move(result), run.budget());
}

absl::StatusOr<Value> ProgramDoor::Call(const Program& program, evaluator::EvaluationRun& run,
                                        std::vector<Value> arguments) {
  KASHI_ASSIGN_OR_RETURN(Value result, ExecuteOnHost(program, std::move(arguments), run));
  return Value::KeepingAlive(std::move(result), program.program_);
}

absl::StatusOr<Value> ProgramDoor::CallInMemory(const Program& program, evaluator::EvaluationRun& run,
                                                std::vector<Value> arguments) {
  KASHI_ASSIGN_OR_RETURN(Value result, program.program_->Execute(std::move(arguments), run));
  return Value::KeepingAlive(std::move(result), program.program_);
}

absl::StatusOr<Literal> ProgramDoor::CallOnLiterals(const Program& program, evaluator::EvaluationRun& run,
                                                    absl::Span<const Literal* const> arguments) {
  const auto execute = [&program](std::vector<Value> values, evaluator::EvaluationRun& in) {
    return ExecuteOnHost(program, std::move(values), in);
  };
  return evaluator::RunOnLiterals(*program.module().entry_computation(), arguments, run, execute);
}

absl::StatusOr<std::vector<Literal>> ProgramDoor::ExecuteOnDevices(
    const Program& program, std::vector<std::vector<Literal>> arguments_of_devices, EvaluationOptions options,
    evaluator::RunHooks hooks, std::optional<DeviceCounts> counts) {
  Complete(program, &options, &hooks);
  const auto execute = [&program](std::vector<Value> arguments, evaluator::EvaluationRun& run) {
    return ExecuteOnHost(program, std::move(arguments), run);
  };
  return evaluator::RunOnDevicesWithHooks(program.module(), std::move(arguments_of_devices), options, hooks, counts,
                                          execute);
}

absl::StatusOr<std::vector<Value>> ProgramDoor::ExecuteValuesOnDevices(
    const Program& program, std::vector<std::vector<Value>> arguments_of_devices, const EvaluationOptions& options,
    const evaluator::RunHooks& hooks, const values::RunLimits& limits, DeviceCounts counts) {
  const auto call = [&program](std::vector<Value> arguments, evaluator::EvaluationRun& run) {
    return CallInMemory(program, run, std::move(arguments));
  };
  return evaluator::RunValuesOnDevices(program.module(), std::move(arguments_of_devices), options, hooks, limits,
                                       counts, call);
}

}  // namespace engine
}  // namespace kashi
