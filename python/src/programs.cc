// kashi.compile and kashi.evaluate: programs on NumPy arrays, without the GIL.
#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "callbacks.h"
#include "interrupts.h"
#include "kashi/base/text.h"
#include "kashi/engine/engine.h"
#include "kashi/engine/engine_choice.h"
#include "kashi/engine/program.h"
#include "kashi/engine/program_door.h"
#include "kashi/evaluator/device_group.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/evaluator/step_profile.h"
#include "kashi/hlo/spmd/program_scope.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "module.h"
#include "profiles.h"
#include "ranks.h"

namespace kashi::python {

using engine::ProgramDoor;
namespace {

// ---- Calls of programs on small static arrays: on memory, without values. -------------------------------------------

// A result this small is copied in no time, so that it need not be the memory that the run has made.
constexpr int64_t kSmallResultBytes = 4096;

bool IsStaticArray(const Shape& shape) {
  return shape.IsArrayExcludingBuffer() && shape.is_static() && DtypeOf(shape.element_type()).is_valid();
}

// The bytes of a static array, or one more than is small.
int64_t BytesUpToSmall(const Shape& array) {
  constexpr int64_t kMost = kSmallResultBytes + 1;
  if (absl::c_linear_search(array.dimensions(), 0)) return 0;
  int64_t bytes = primitive_util::ByteWidth(array.element_type());
  for (const int64_t size : array.dimensions()) bytes = std::min(kMost, bytes * std::min(kMost, size));
  return bytes;
}

// The arrays of the result: of an array, or of a tuple of arrays. Nothing for others, and for large ones.
std::optional<std::vector<const Shape*>> SmallResults(const Shape& result) {
  std::vector<const Shape*> arrays;
  if (result.IsTuple()) {
    for (const Shape& element : result.tuple_shapes()) arrays.push_back(&element);
  } else {
    arrays.push_back(&result);
  }
  int64_t bytes = 0;
  for (const Shape* array : arrays) {
    if (!IsStaticArray(*array) || BytesUpToSmall(*array) > kSmallResultBytes) return std::nullopt;
    bytes += BytesUpToSmall(*array);
  }
  if (bytes > kSmallResultBytes) return std::nullopt;
  return arrays;
}

// Runs shorter than this end before a user would press Ctrl-C.
constexpr int64_t kQuickNs = 10'000'000;

// ---- Programs. ------------------------------------------------------------------------------------------------------

// A level of Python's recursion: a list may hold itself.
struct RecursionLevel {
  RecursionLevel() {
    if (Py_EnterRecursiveCall(" in the arrays of an argument") != 0) throw nb::python_error();
  }
  ~RecursionLevel() { Py_LeaveRecursiveCall(); }
};

// Appends the leaves of a pytree, in JAX's order: dicts by their keys, None has none.
void AppendLeaves(nb::handle tree, nb::list* leaves) {
  const RecursionLevel level;
  if (nb::isinstance<nb::dict>(tree)) {
    const nb::object keys = nb::steal(PyDict_Keys(tree.ptr()));
    if (!keys.is_valid() || PyList_Sort(keys.ptr()) != 0) throw nb::python_error();
    for (const nb::handle key : keys) AppendLeaves(nb::object(tree[key]), leaves);
  } else if (nb::isinstance<nb::tuple>(tree) || nb::isinstance<nb::list>(tree)) {
    for (const nb::handle element : tree) AppendLeaves(element, leaves);
  } else if (!tree.is_none()) {
    leaves->append(tree);
  }
}

// The parameters of a program, and the arguments that a caller passes for them.
class Parameters {
 public:
  explicit Parameters(const HloComputation& entry) {
    for (const HloInstruction* parameter : entry.parameter_instructions()) shapes_.push_back(&parameter->shape());
  }
  Parameters() = default;

  const std::vector<const Shape*>& shapes() const { return shapes_; }

  // One argument for each parameter: the passed ones, or the leaves of pytrees.
  nb::args ArgumentsOf(const nb::args& passed) const {
    bool has_dict = false;
    for (const nb::handle argument : passed) has_dict |= PyDict_Check(argument.ptr()) != 0;
    if (passed.size() == shapes_.size() && !has_dict) return passed;
    nb::list leaves;
    for (const nb::handle argument : passed) AppendLeaves(argument, &leaves);
    const bool may_flatten = absl::c_none_of(shapes_, [](const Shape* shape) { return shape->IsTuple(); });
    if (may_flatten && leaves.size() == shapes_.size()) return nb::borrow<nb::args>(nb::tuple(leaves));
    ThrowTypeError(absl::StrCat("the program takes ", base::Count(static_cast<int64_t>(shapes_.size()), "argument"),
                                ", got ", passed.size(),
                                leaves.size() == passed.size()
                                    ? ""
                                    : absl::StrCat(" with ", leaves.size(), leaves.size() == 1 ? " leaf" : " leaves")));
  }

  std::vector<Value> ValuesOf(const nb::args& arguments) const {
    std::vector<Value> values;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      values.push_back(ValueOfArgument(arguments[i], *shapes_[i], absl::StrCat("argument ", i)));
    }
    return values;
  }

  // `is_here`: whether this process runs the device. The others have no arguments.
  std::vector<std::vector<Literal>> LiteralsOfDevices(nb::handle arguments_of_devices,
                                                      absl::FunctionRef<bool(size_t device)> is_here) const {
    std::vector<std::vector<Literal>> literals;
    for (const nb::handle arguments : arguments_of_devices) {
      std::vector<Literal> converted;
      if (!is_here(literals.size())) {
        literals.emplace_back();
        continue;
      }
      for (const nb::handle argument : arguments) {
        const size_t i = converted.size();
        if (i >= shapes_.size()) break;  // RunOnDevices says how many are wanted
        const std::string place = absl::StrCat("argument ", i, " of device ", literals.size());
        converted.push_back(ValueOrThrow(ValueOfArgument(argument, *shapes_[i], place).ToLiteral(*shapes_[i])));
      }
      if (nb::len(arguments) != shapes_.size()) {
        ThrowTypeError(absl::StrCat("the program takes ", base::Count(static_cast<int64_t>(shapes_.size()), "argument"),
                                    " on each device, device ", literals.size(), " got ", nb::len(arguments)));
      }
      literals.push_back(std::move(converted));
    }
    return literals;
  }

 private:
  std::vector<const Shape*> shapes_;
};

// A program that is ready to run. It has a copy of the module, so that later edits do not change it.
class CallableProgram {
 public:
  // custom_calls: None, or the functions of custom calls by their targets.
  CallableProgram(const HloModule& module, CompileOptions options, nb::handle custom_calls)
      : module_(module.Clone("")) {
    const std::vector<HloFinding> findings = VerifyHlo(*module_, HloVerifierOpts().AllowMixedPrecision());
    if (!findings.empty()) ThrowValueError(absl::StrCat(findings[0].rule, ": ", findings[0].message));
    Prepare(custom_calls);  // before the time to compile
    Take([&](const std::atomic<bool>* cancelled) {
      options.limits.cancelled = cancelled;
      return Program::Compile(module_, options);
    });
  }
  // From the bytes of Serialize.
  CallableProgram(absl::string_view bytes, nb::handle custom_calls) {
    Take([&](const std::atomic<bool>* cancelled) {
      CompileOptions options;
      options.limits.cancelled = cancelled;
      options.keep_code = true;
      return Program::Deserialize(bytes, options);
    });
    module_ = std::shared_ptr<const HloModule>(std::shared_ptr<void>(), &program_->module());
    Prepare(custom_calls);
  }

  nb::bytes Serialize() const {
    const std::string bytes = ValueOrThrow(program_->Serialize());
    return nb::bytes(bytes.data(), bytes.size());
  }

  nb::object Run(const nb::args& passed) const {
    const nb::args arguments = parameters_.ArgumentsOf(passed);
    if (small_results_.has_value() && !has_functions()) return RunOnMemory(arguments);
    return ArraysOf(RunValues(parameters_.ValuesOf(arguments), nullptr));
  }

  // The module is the one that this program copied.
  nb::object RunObserved(const ModuleRef& module, const nb::args& passed, nb::handle observer) const {
    const nb::args arguments = parameters_.ArgumentsOf(passed);
    Callbacks callbacks;
    EvaluationOptions options = OptionsFor(&callbacks);
    options.observer = callbacks.observer(module, observer);
    return ArraysOf(RunWith(std::move(options), &callbacks, parameters_.ValuesOf(arguments)));
  }

  nb::list RunOnDevices(nb::handle arguments_of_devices, nb::handle ranks) const {
    devices::DeviceFabric* const fabric = FabricOf(ranks);
    DeviceCounts counts;
    const auto is_here = [&](size_t device) {
      return fabric == nullptr || fabric->Runs(static_cast<int64_t>(device), counts);
    };
    std::vector<std::vector<Literal>> literals;
    try {
      counts.partitions = static_cast<int64_t>(nb::len(arguments_of_devices));
      literals = parameters_.LiteralsOfDevices(arguments_of_devices, is_here);
    } catch (const std::exception& error) {
      if (fabric != nullptr) {
        const absl::Status status = absl::InvalidArgumentError(error.what());
        const nb::gil_scoped_release release;
        fabric->Refuse(status).IgnoreError();  // the other ranks do not wait
      }
      throw;
    }
    Callbacks callbacks;
    const Interrupts interrupts;
    EvaluationOptions options = OptionsFor(&callbacks);
    options.cancelled = interrupts.flag();
    absl::StatusOr<std::vector<Literal>> results;
    {
      const nb::gil_scoped_release release;
      evaluator::RunHooks hooks;
      hooks.fabric = fabric;
      results = ProgramDoor::ExecuteOnDevices(*program_, std::move(literals), std::move(options), hooks);
    }
    if (!results.ok()) {
      callbacks.Rethrow();
      interrupts.Rethrow();
    }
    nb::list arrays;
    for (const Literal& result : ValueOrThrow(std::move(results))) {
      arrays.append(is_here(nb::len(arrays)) ? LiteralArrays(result) : nb::none());
    }
    return arrays;
  }

  nb::dict Profile(const nb::args& passed, int64_t runs) const {
    if (runs < 1) ThrowValueError("runs must be positive");
    const nb::args arguments = parameters_.ArgumentsOf(passed);
    evaluator::StepProfile profile;
    const std::vector<Value> values = parameters_.ValuesOf(arguments);
    RunValues(values, &profile);
    if (runs > 1) profile.Clear();  // the first run makes plans and gets memory
    for (int64_t i = 1; i < runs; ++i) RunValues(values, &profile);
    nb::dict facts = ProfileFacts(program_->module(), profile.Times(), std::max<int64_t>(1, runs - 1));
    facts["engine"] = engine();
    return facts;
  }

  nb::handle functions() const { return functions_; }

  std::string engine() const { return std::string(program_->engine()); }

 private:
  // The facts of the module that calls need.
  void Prepare(nb::handle custom_calls) {
    scope_ = ProgramScopeOf(*module_);
    targets_ = CustomCallTargets(*module_);
    functions_ = CustomCallsOf(custom_calls, *module_, targets_);
    parameters_ = Parameters(*module_->entry_computation());
    if (TakesMemory()) small_results_ = SmallResults(root_shape());
    is_quick_ = engine::IsQuick(*module_, kQuickNs);
  }

  // The program that `make` gives, without the GIL; Ctrl-C ends it.
  template <typename Make>
  void Take(const Make& make) {
    const Interrupts interrupts;
    absl::StatusOr<std::unique_ptr<Program>> program;
    {
      const nb::gil_scoped_release release;
      program = make(interrupts.flag());
    }
    if (!program.ok()) interrupts.Rethrow();
    program_ = ValueOrThrow(std::move(program));
  }

  // Whether a function of the user computes a custom call now.
  bool has_functions() const { return !targets_.empty() && HasFunction(functions_, targets_); }

  bool TakesMemory() const {
    return !scope_.is_global() &&
           absl::c_all_of(parameters_.shapes(), [](const Shape* shape) { return IsStaticArray(*shape); });
  }
  const Shape& root_shape() const { return module_->entry_computation()->root_instruction()->shape(); }

  EvaluationOptions OptionsFor(Callbacks* callbacks) const {
    EvaluationOptions options;
    if (has_functions()) options.custom_call_handler = callbacks->custom_calls(functions_);
    if (scope_.is_global()) options.global_devices = scope_.partitions;
    return options;
  }

  Value RunValues(std::vector<Value> values, evaluator::StepProfile* profile) const {
    Callbacks callbacks;
    return RunWith(OptionsFor(&callbacks), &callbacks, std::move(values), profile);
  }

  Value RunWith(EvaluationOptions options, Callbacks* callbacks, std::vector<Value> values,
                evaluator::StepProfile* profile = nullptr) const {
    const Interrupts interrupts;
    options.cancelled = interrupts.flag();
    absl::StatusOr<Value> result;
    {
      const nb::gil_scoped_release release;
      result = Call(std::move(values), std::move(options), profile);
    }
    if (!result.ok()) {
      callbacks->Rethrow();
      interrupts.Rethrow();
    }
    return ValueOrThrow(std::move(result));
  }

  nb::object RunOnMemory(const nb::args& arguments) const {
    absl::InlinedVector<nb::object, 8> owners;
    absl::InlinedVector<const void*, 8> inputs;
    for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
      DenseArgument argument = DenseArgumentOf(arguments[i], *parameters_.shapes()[i], i);
      inputs.push_back(argument.data);
      owners.push_back(std::move(argument.owner));
    }
    absl::InlinedVector<nb::object, 8> results;
    absl::InlinedVector<void*, 8> outputs;
    for (const Shape* shape : *small_results_) {
      void* data = nullptr;
      results.push_back(NewArray(shape->element_type(), shape->dimensions(), &data));
      outputs.push_back(data);
    }
    ExecuteOnMemory(inputs, outputs);
    if (!root_shape().IsTuple()) return std::move(results[0]);
    nb::list elements;
    for (const nb::object& result : results) elements.append(result);
    return nb::tuple(elements);
  }

  void ExecuteOnMemory(absl::Span<const void* const> inputs, absl::Span<void* const> outputs) const {
    std::optional<Interrupts> interrupts;
    if (!is_quick_) interrupts.emplace();
    absl::Status status;
    {
      const nb::gil_scoped_release release;
      status = program_->ExecuteOnMemory(inputs, outputs, interrupts.has_value() ? interrupts->flag() : nullptr);
    }
    if (!status.ok() && interrupts.has_value()) interrupts->Rethrow();
    ThrowUnlessOk(status);
  }

  absl::StatusOr<Value> Call(std::vector<Value> arguments, EvaluationOptions options,
                             evaluator::StepProfile* profile) const {
    const bool is_plain =
        !options.custom_call_handler && !scope_.is_global() && profile == nullptr && !options.observer;
    if (is_plain) return program_->ExecuteValues(std::move(arguments), options.cancelled);
    evaluator::RunHooks hooks;
    hooks.profile = profile;
    const auto run = ProgramDoor::NewRun(*program_, std::move(options), hooks);
    return ProgramDoor::Call(*program_, *run, std::move(arguments));
  }

  std::shared_ptr<const HloModule> module_;
  std::unique_ptr<Program> program_;
  bool is_quick_ = false;
  ProgramScope scope_;
  std::set<std::string> targets_;  // of its custom calls
  nb::dict functions_;             // of its custom calls, by their targets
  Parameters parameters_;
  // Set for a program that is called on memory.
  std::optional<std::vector<const Shape*>> small_results_;
};

// The garbage collector looks for cycles through the functions, which may hold their program.
int TraverseProgram(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<CallableProgram>(self)->functions().ptr());
  return 0;
}
int ClearProgram(PyObject* self) {
  if (nb::inst_ready(self)) PyDict_Clear(nb::inst_ptr<CallableProgram>(self)->functions().ptr());
  return 0;
}
PyType_Slot program_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(TraverseProgram)},
                               {Py_tp_clear, reinterpret_cast<void*>(ClearProgram)},
                               {0, nullptr}};

void BindMore(nb::class_<CallableProgram>& program) {
  program
      .def("profile", &CallableProgram::Profile, nb::arg("arguments"), nb::arg("runs") = 3,
           "Runs it `runs` times, and says which steps took the time. All but the first run count, if there are "
           "several.\n"
           "`engine`, `runs`, `run_ms`, `between_steps_ms`, and the table `steps`, the longest first: `instruction`,\n"
           "`computation`, `opcode`, `operations` (of a fusion), `ms` and `calls` of one run, `share` (0 to 1), "
           "`flops`,\n"
           "`transcendentals` and `bytes_accessed` of one call (None: unknown), `op_name`, `source`.\n\n"
           ">>> m = kashi.parse('''HloModule m\n"
           "... ENTRY e {\n"
           "...   x = f32[64,64] parameter(0)\n"
           "...   ROOT y = f32[64,64] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
           "... }''')\n"
           ">>> import numpy as np\n"
           ">>> profile = kashi.compile(m).profile(np.ones((64, 64), np.float32), runs=5)\n"
           ">>> [(s['opcode'], s['flops']) for s in profile['steps']]\n[('dot', 524288.0)]")
      .def("serialize", &CallableProgram::Serialize, nb::sig("def serialize(self) -> bytes"),
           "The program as bytes, for kashi.deserialize: the module, and machine code for its target. Needs\n"
           "compile(…, keep_code=True), else kashi.Error.\n\n"
           ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[] parameter(0)\\n}\\n')\n"
           ">>> kashi.compile(m, keep_code=True).serialize()[:13]\nb'kashi program'")
      .def_prop_ro("engine", &CallableProgram::engine, "'cpu', machine code, or 'evaluator'.");
}

void BindProgram(nb::module_& m) {
  nb::class_<CallableProgram> program(
      m, "Program", nb::type_slots(program_slots),
      "A module that is ready to run. Made by kashi.compile().\n\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  ROOT x = f32[] parameter(0)\\n}\\n')\n"
      ">>> kashi.compile(m).engine in ('cpu', 'evaluator')\nTrue");
  program
      .def("run", &CallableProgram::Run, nb::arg("arguments"),
           nb::sig("def run(self, *arguments: object) -> typing.Any"),
           "Runs it on one argument for each parameter, an array or a tuple of arrays, and returns the result: an\n"
           "array, or a tuple for a tuple. Dense arguments in row-major order are not copied. Arguments may also be\n"
           "pytrees, whose leaves are the arguments in JAX's order: dicts by their keys, lists, tuples.\n\n"
           ">>> import numpy as np\n"
           ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  a = f32[] parameter(0)\\n  b = f32[] parameter(1)\\n'\n"
           "...                 '  ROOT c = f32[] subtract(a, b)\\n}')\n"
           ">>> kashi.compile(m).run({'b': np.float32(1), 'a': np.float32(3)})\narray(2., dtype=float32)\n\n"
           "Raises TypeError if an argument does not fit, what a function of a custom call raises, and\n"
           "KeyboardInterrupt: Ctrl-C ends a run of the main thread.")
      .def("__call__", &CallableProgram::Run, nb::arg("arguments"),
           nb::sig("def __call__(self, *arguments: object) -> typing.Any"))
      .def(
          "run_on_devices", &CallableProgram::RunOnDevices, nb::arg("arguments_of_devices"),
          nb::arg("ranks") = nb::none(),
          nb::sig("def run_on_devices(self, arguments_of_devices: object, ranks: Ranks | None = None) -> list"),
          "Runs a program of several devices, each on a thread; they exchange data at collective operations.\n\n"
          "`arguments_of_devices`: for device replica * partitions + partition the list of its arguments. Returns the\n"
          "list of their results.\n\n"
          ">>> import numpy as np\n"
          ">>> m = kashi.parse('''HloModule m, replica_count=2\n"
          "... add {\n"
          "...   a = f32[] parameter(0)\n"
          "...   b = f32[] parameter(1)\n"
          "...   ROOT s = f32[] add(a, b)\n"
          "... }\n"
          "... ENTRY e {\n"
          "...   x = f32[2] parameter(0)\n"
          "...   ROOT sum = f32[2] all-reduce(x), to_apply=add\n"
          "... }''')\n"
          ">>> kashi.compile(m).run_on_devices([[np.float32([1, 2])], [np.float32([10, 20])]])\n"
          "[array([11., 22.], dtype=float32), array([11., 22.], dtype=float32)]\n\n"
          "With `ranks`, a kashi.Ranks, the devices are spread over its ranks. Only the arguments of the devices of "
          "this\n"
          "rank are read, and only their results are there; the others are None.\n\n"
          "Raises ValueError if there are not as many lists as devices; kashi.Error if devices wait forever.");
  BindMore(program);
}

std::string EngineOfArgument(nb::handle engine) {
  if (engine.is_none()) return "auto";
  const std::string name = TextOfArgument(engine, "`engine` is the name of an engine, such as 'cpu', or None");
  const absl::Status found = engine::EngineOfName(name).status();
  if (!found.ok()) ThrowValueError(std::string(found.message()));
  return name;
}

#define KASHI_CUSTOM_CALLS_TYPE "dict[str, collections.abc.Callable[..., object]] | None"

void BindCompile(nb::module_& m) {
  m.def(
      "compile",
      [](nb::handle module, nb::handle custom_calls, nb::handle engine, bool keep_code, nb::handle target,
         nb::handle cache_dir) {
        CompileOptions options;
        options.engine = EngineOfArgument(engine);
        if (!target.is_none()) options.target = TextOfArgument(target, "`target` is 'x86-64-v3', say, or None");
        if (!options.target.empty() && options.engine == "evaluator") {
          ThrowValueError("`target` is for machine code: the evaluator makes none");
        }
        options.keep_code = keep_code;
        if (!cache_dir.is_none()) options.cache_folder = PathOfArgument(cache_dir, "`cache_dir` is a path, or None");
        const ModuleRef& ref = ModuleOfArgument(module, "compile");
        return std::make_unique<CallableProgram>(*ref.state->module, options, custom_calls).release();
      },
      nb::arg("module").none(), nb::kw_only(), nb::arg("custom_calls").none() = nb::none(),
      nb::arg("engine").none() = nb::none(), nb::arg("keep_code") = false, nb::arg("target").none() = nb::none(),
      nb::arg("cache_dir").none() = nb::none(), nb::rv_policy::take_ownership,
      nb::sig("def compile(module: Module, *, custom_calls: " KASHI_CUSTOM_CALLS_TYPE
              " = None, engine: typing.Literal['cpu', 'evaluator'] | None = None, keep_code: bool = False, "
              "target: typing.Literal['x86-64-v2', 'x86-64-v3', 'x86-64-v4'] | None = None, "
              "cache_dir: str | os.PathLike[str] | None = None) -> Program"),
      "Compiles a copy of the module for this processor. The evaluator runs it where the compiled engine cannot.\n"
      "`engine`: 'cpu', an error where there is no machine code, or 'evaluator'. `keep_code`: for Program.serialize.\n"
      "`target`: code for all processors with this level of x86-64; kashi.Error if this one lacks it. `cache_dir`: a\n"
      "directory where later compilations find machine code, in other processes too (default: KASHI_CACHE_DIR).\n\n"
      ">>> import numpy as np\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[3] parameter(0)\\n  ROOT y = f32[3] add(x, "
      "x)\\n}\\n')\n"
      ">>> kashi.compile(m).run(np.float32([1, 2, 3]))\narray([2., 4., 6.], dtype=float32)\n\n"
      "`custom_calls`: functions that compute custom calls, by their targets. They are those of register_custom_call,\n"
      "but for this program alone, and go before those.\n\n"
      ">>> m = kashi.parse('''HloModule m\n"
      "... ENTRY e {\n"
      "...   x = f32[2] parameter(0)\n"
      "...   ROOT y = f32[2] custom-call(x), custom_call_target=\"twice\"\n"
      "... }''')\n"
      ">>> kashi.compile(m, custom_calls={'twice': lambda call, x: 2 * x}).run(np.float32([1, 2]))\n"
      "array([2., 4.], dtype=float32)\n\n"
      "Raises ValueError for a module that the verifier refuses, and for a target that no custom call has,\n"
      "or that is no level of x86-64.");
}

CompileOptions ByEvaluator() {
  CompileOptions options;
  options.engine = "evaluator";
  return options;
}

void BindEvaluate(nb::module_& m) {
  m.def(
      "evaluate",
      [](nb::handle module, const nb::args& arguments, nb::handle observer, nb::handle custom_calls) {
        const ModuleRef& ref = ModuleOfArgument(module, "evaluate");
        return CallableProgram(*ref.state->module, ByEvaluator(), custom_calls).RunObserved(ref, arguments, observer);
      },
      nb::arg("module").none(), nb::arg("arguments"), nb::arg("observer").none() = nb::none(),
      nb::arg("custom_calls").none() = nb::none(),
      nb::sig("def evaluate(module: Module, *arguments: object, "
              "observer: collections.abc.Callable[[Instruction, typing.Any], object] | None = None, "
              "custom_calls: " KASHI_CUSTOM_CALLS_TYPE " = None) -> typing.Any"),
      "The result of the program by the evaluator, in IEEE arithmetic. Arguments and result are those of Program.run,\n"
      "`custom_calls` those of compile().\n\n"
      "observer(instruction, value) is called after each instruction of the entry and of what it calls, but for those\n"
      "on scalars (of a reduce, say). Its exceptions end the run.\n\n"
      ">>> import numpy as np\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[] parameter(0)\\n  ROOT y = f32[] "
      "exponential(x)\\n}')\n"
      ">>> float(kashi.evaluate(m, np.float32(0)))\n1.0\n"
      ">>> y = kashi.evaluate(m, np.float32(0), observer=lambda instruction, value: print(instruction.name, value))\n"
      "x 0.0\ny 1.0");
  m.def(
      "evaluate_on_devices",
      [](nb::handle module, nb::handle arguments_of_devices, nb::handle custom_calls) {
        return CallableProgram(*ModuleOfArgument(module, "evaluate_on_devices").state->module, ByEvaluator(),
                               custom_calls)
            .RunOnDevices(arguments_of_devices, nb::none());
      },
      nb::arg("module").none(), nb::arg("arguments_of_devices"), nb::kw_only(),
      nb::arg("custom_calls").none() = nb::none(),
      nb::sig("def evaluate_on_devices(module: Module, arguments_of_devices: object, *, "
              "custom_calls: " KASHI_CUSTOM_CALLS_TYPE " = None) -> list"),
      "The results of all devices by the evaluator. See Program.run_on_devices, and compile() for `custom_calls`.\n\n"
      ">>> import numpy as np\n"
      ">>> m = kashi.parse('HloModule m, replica_count=2\\nENTRY e {\\n  ROOT r = u32[] replica-id()\\n}\\n')\n"
      ">>> [int(r) for r in kashi.evaluate_on_devices(m, [[], []])]\n[0, 1]");
}

void BindDeserialize(nb::module_& m) {
  m.def(
      "deserialize",
      [](const nb::bytes& data, nb::handle custom_calls) {
        const absl::string_view view(static_cast<const char*>(data.data()), data.size());
        return std::make_unique<CallableProgram>(view, custom_calls).release();
      },
      nb::arg("data"), nb::kw_only(), nb::arg("custom_calls").none() = nb::none(), nb::rv_policy::take_ownership,
      nb::sig("def deserialize(data: bytes, *, custom_calls: " KASHI_CUSTOM_CALLS_TYPE " = None) -> Program"),
      "The program of the bytes that Program.serialize gave, in about a tenth of the time that compile() takes. "
      "Machine\n"
      "code for another processor is compiled again. `custom_calls` are those of compile().\n\n"
      ">>> import numpy as np\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[3] parameter(0)\\n  ROOT y = f32[3] add(x, "
      "x)\\n}\\n')\n"
      ">>> data = kashi.compile(m, keep_code=True).serialize()\n"
      ">>> kashi.deserialize(data).run(np.float32([1, 2, 3]))\narray([2., 4., 6.], dtype=float32)\n\n"
      "Bytes that were cut or changed, or that another version of Kashi wrote, are an error. Machine code runs as it "
      "is:\n"
      "take such bytes only from those whose libraries you would load.");
}

}  // namespace

void BindPrograms(nb::module_& m) {
  BindProgram(m);
  BindCompile(m);
  BindDeserialize(m);
  BindEvaluate(m);
  m.attr("HAS_COMPILED_ENGINE") = engine::FindEngine("cpu") != nullptr;
}

}  // namespace kashi::python
