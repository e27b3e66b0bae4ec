#include "callbacks.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "arrays.h"
#include "kashi/base/status.h"
#include "kashi/hlo/ir/hlo_computation.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::python {
namespace {

// The facts about a call that a function gets. A copy: the program's module is not Python's.
struct CustomCallFacts {
  std::string target, name, backend_config;
  Shape shape;
  std::vector<Shape> operand_shapes;
};

// The functions by target. Lives as long as the interpreter; used with the GIL.
nb::dict& Functions() {
  static nb::dict* const functions = new nb::dict();
  return *functions;
}

void RegisterCustomCall(const nb::str& target, nb::handle function) {
  if (function.is_none()) {
    if (Functions().contains(target)) nb::del(Functions()[target]);
    return;
  }
  if (PyCallable_Check(function.ptr()) == 0) ThrowTypeError("a custom call is computed by a function, or by None");
  Functions()[target] = function;
}

// `a`, `b`
template <typename Names>
std::string QuotedNames(const Names& names) {
  return absl::StrJoin(names, ", ",
                       [](std::string* out, const std::string& name) { absl::StrAppend(out, "`", name, "`"); });
}

// The lowest address that a function may begin at on this thread's stack: it leaves a part of the stack to it.
uintptr_t LowestStart() {
  constexpr size_t kEnoughBytes = size_t{1} << 20;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* lowest = nullptr;
  size_t size = 0;
  pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(lowest) + std::min(kEnoughBytes, size / 4);
}

// RecursionError where functions and runs call each other without end. Python counts its own calls, but not the stack
// that the runs between them take.
void CheckStack() {
  static thread_local const uintptr_t lowest = LowestStart();
  if (reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) >= lowest) return;
  PyErr_SetString(PyExc_RecursionError, "runs within functions of runs are nested too deep");
  throw nb::python_error();
}

absl::StatusOr<Literal> ComputeCall(const HloInstruction& call, nb::handle function,
                                    absl::Span<const Literal* const> operands) {
  CustomCallFacts facts = {std::string(call.custom_call_target()),
                           std::string(call.name()),
                           std::string(call.raw_backend_config_string()),
                           call.shape(),
                           {}};
  for (const HloInstruction* operand : call.operands()) facts.operand_shapes.push_back(operand->shape());
  CheckStack();
  nb::list arguments;
  arguments.append(nb::cast(std::move(facts)));
  for (const Literal* operand : operands) arguments.append(LiteralArrays(*operand));
  const nb::object result = function(*arguments);
  return ValueOfArgument(result, call.shape(), absl::StrCat("the result of the custom call ", call.name()))
      .ToLiteral(call.shape());
}

}  // namespace

std::set<std::string> CustomCallTargets(const HloModule& module) {
  std::set<std::string> targets;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (instruction->opcode() == HloOpcode::kCustomCall) targets.emplace(instruction->custom_call_target());
    }
  }
  return targets;
}

nb::dict CustomCallsOf(nb::handle custom_calls, const HloModule& module, const std::set<std::string>& targets) {
  nb::dict functions;
  if (custom_calls.is_none()) return functions;
  if (!nb::isinstance<nb::dict>(custom_calls)) ThrowTypeError("custom_calls must be a dict of functions, or None");
  std::vector<std::string> unknown;
  for (const auto& [key, function] : nb::borrow<nb::dict>(custom_calls)) {
    if (PyUnicode_Check(key.ptr()) == 0) ThrowTypeError("a key of custom_calls must be a target, a str");
    const std::string target = ToBytes(key);
    if (PyCallable_Check(function.ptr()) == 0) {
      ThrowTypeError(absl::StrCat("custom_calls has no function for `", target, "`"));
    }
    if (targets.count(target) == 0) unknown.push_back(target);
    functions[key] = function;
  }
  if (unknown.empty()) return functions;
  const std::string known =
      targets.empty() ? "it has no custom calls" : absl::StrCat("its targets are ", QuotedNames(targets));
  ThrowValueError(absl::StrCat("custom_calls has ", QuotedNames(unknown), ", but no custom call of module ",
                               module.name(), " has such a target: ", known));
}

bool HasFunction(nb::handle functions, const std::set<std::string>& targets) {
  return absl::c_any_of(targets, [&](const std::string& target) {
    const nb::str name = ToStr(target);
    return nb::borrow<nb::dict>(functions).contains(name) || Functions().contains(name);
  });
}

absl::Status Callbacks::Failure::Keep(nb::python_error raised, const HloInstruction& instruction) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (error == nullptr) error = std::make_unique<nb::python_error>(std::move(raised));
  return absl::InternalError(absl::StrCat("the function for ", instruction.name(), " raised an exception"));
}

absl::StatusOr<Literal> Callbacks::CallFunction(nb::handle functions, const HloInstruction& call,
                                                absl::Span<const Literal* const> operands, Failure* failure) {
  const nb::gil_scoped_acquire gil;
  try {
    const nb::str target = ToStr(call.custom_call_target());
    for (const nb::dict& known : {nb::borrow<nb::dict>(functions), Functions()}) {
      if (!known.contains(target)) continue;
      const nb::object function = known[target];
      return ComputeCall(call, function, operands);
    }
    return Unimplemented("no function for the custom call %s", call.custom_call_target());
  } catch (nb::python_error& error) {
    return failure->Keep(std::move(error), call);
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("the custom call ", call.name(), ": ", error.what()));
  }
}

CustomCallHandler Callbacks::custom_calls(nb::handle functions) {
  return [functions, failure = failure_](const HloInstruction& call, absl::Span<const Literal* const> operands) {
    return CallFunction(functions, call, operands, failure.get());
  };
}

absl::Status Callbacks::CallObserver(const ModuleRef& module, nb::handle function, const HloInstruction& instruction,
                                     const Value& value, Failure* failure) {
  const nb::gil_scoped_acquire gil;
  try {
    const HloComputation* const computation = module->GetComputationWithName(instruction.parent()->name());
    const HloInstruction* const original =
        computation == nullptr ? nullptr : computation->GetInstructionWithName(instruction.name());
    if (original == nullptr) return Internal("the module has no instruction %s any more", instruction.name());
    CheckStack();
    function(RefTo(*module.state, original), CopiedArraysOf(value));
    return absl::OkStatus();
  } catch (nb::python_error& error) {
    return failure->Keep(std::move(error), instruction);
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

std::function<absl::Status(const HloInstruction&, const Value&)> Callbacks::observer(const ModuleRef& module,
                                                                                     nb::handle function) {
  if (function.is_none()) return nullptr;
  if (PyCallable_Check(function.ptr()) == 0) ThrowTypeError("the observer must be a function, or None");
  // The caller holds the function during the run; a reference here would be dropped without the GIL.
  return [module, function, failure = failure_](const HloInstruction& instruction, const Value& value) {
    return CallObserver(module, function, instruction, value, failure.get());
  };
}

void Callbacks::Rethrow() {
  std::unique_ptr<nb::python_error> error;
  {
    const std::lock_guard<std::mutex> lock(failure_->mutex);
    error = std::move(failure_->error);
  }
  if (error != nullptr) throw nb::python_error(std::move(*error));
}

void BindCustomCalls(nb::module_& m) {
  nb::class_<CustomCallFacts>(
      m, "CustomCall",
      "What a function that computes a custom call is told about it.\n\n"
      "`shape` is that of the result: an array, or a tuple.\n\n"
      ">>> import numpy as np\n"
      ">>> def show(call, x):\n...     print(call.target, call.shape, call.operand_shapes)\n...     return x\n"
      ">>> kashi.register_custom_call('show', show)\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[] parameter(0)\\n'\n"
      "...                 '  ROOT y = f32[] custom-call(x), custom_call_target=\"show\"\\n}')\n"
      ">>> y = kashi.evaluate(m, np.float32(1))\nshow f32[] (Shape('f32[]'),)")
      .def_prop_ro(
          "target", [](const CustomCallFacts& c) { return ToStr(c.target); }, "The custom_call_target.")
      .def_prop_ro(
          "name", [](const CustomCallFacts& c) { return ToStr(c.name); }, "The name of the instruction.")
      .def_prop_ro(
          "backend_config", [](const CustomCallFacts& c) { return ToStr(c.backend_config); },
          "Its backend_config, as it is in the program: text that only the target understands.")
      .def_prop_ro(
          "shape", [](const CustomCallFacts& c) { return c.shape; }, "The Shape of the result.")
      .def_prop_ro(
          "operand_shapes",
          [](const CustomCallFacts& c) {
            nb::list shapes;
            for (const Shape& shape : c.operand_shapes) shapes.append(nb::cast(shape));
            return nb::tuple(shapes);
          },
          "The Shape of each operand.");
  m.def(
      "register_custom_call", RegisterCustomCall, nb::arg("target"), nb::arg("function").none(),
      "Lets a function compute the custom calls of this target in all runs of this process, before Kashi's own\n"
      "(docs/custom-calls.md). None removes it.\n\n"
      "The function gets a CustomCall and an array for each operand (a tuple for a tuple), and returns an array, or a\n"
      "tuple of arrays, of the call's shape. It may be called by several threads, one at a time. Its exceptions are\n"
      "raised by the run.\n\n"
      ">>> import numpy as np\n"
      ">>> kashi.register_custom_call('twice', lambda call, x: 2 * x)\n"
      ">>> m = kashi.parse('''HloModule m\n"
      "... ENTRY e {\n"
      "...   x = f32[2] parameter(0)\n"
      "...   ROOT y = f32[2] custom-call(x), custom_call_target=\"twice\"\n"
      "... }''')\n"
      ">>> kashi.evaluate(m, np.float32([1, 2]))\narray([2., 4.], dtype=float32)\n"
      ">>> kashi.register_custom_call('twice', None)\n\n"
      "Raises TypeError for what cannot be called.");
}

}  // namespace kashi::python
