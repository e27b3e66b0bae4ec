// kashi.compile and kashi.evaluate: programs on NumPy arrays, without the GIL.
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "arrays.h"
#include "kashi/evaluator/evaluation_run.h"
#include "kashi/hlo/verifier/hlo_verifier.h"
#include "module.h"
#ifdef KASHI_HAS_CPU
#include "kashi/cpu/executable.h"
#endif

namespace kashi::python {
namespace {

// A program that is ready to run. It has a copy of the module, so that later edits do not change it.
class Program {
 public:
  Program(const HloModule& module, bool compiled) : module_(module.Clone("")) {
    const std::vector<HloFinding> findings = VerifyHlo(*module_);
    if (!findings.empty()) ThrowValueError(absl::StrCat(findings[0].rule, ": ", findings[0].message));
#ifdef KASHI_HAS_CPU
    if (!compiled) return;
    absl::StatusOr<std::unique_ptr<Executable>> executable;
    {
      const nb::gil_scoped_release release;
      executable = Executable::Compile(*module_);
    }
    executable_ = ValueOrThrow(std::move(executable));
#else
    (void)compiled;
#endif
  }

  nb::object Run(const nb::args& arguments) const {
    const std::vector<HloInstruction*>& parameters = module_->entry_computation()->parameter_instructions();
    if (arguments.size() != parameters.size()) {
      ThrowTypeError(absl::StrCat("the program takes ", parameters.size(), " arguments, got ", arguments.size()));
    }
    std::vector<Value> values;
    for (size_t i = 0; i < parameters.size(); ++i) {
      values.push_back(ValueOfArgument(arguments[i], parameters[i]->shape(), absl::StrCat("argument ", i)));
    }
    absl::StatusOr<Value> result;
    {
      const nb::gil_scoped_release release;
      result = Call(std::move(values));
    }
    return ArraysOf(ValueOrThrow(std::move(result)));
  }

  const char* engine() const {
#ifdef KASHI_HAS_CPU
    if (executable_ != nullptr) return "cpu";
#endif
    return "evaluator";
  }

 private:
  absl::StatusOr<Value> Call(std::vector<Value> arguments) const {
#ifdef KASHI_HAS_CPU
    if (executable_ != nullptr) return executable_->ExecuteValues(std::move(arguments));
#endif
    return internal::EvaluationRun().Call(*module_->entry_computation(), std::move(arguments));
  }

  std::unique_ptr<HloModule> module_;
#ifdef KASHI_HAS_CPU
  std::unique_ptr<Executable> executable_;
#endif
};

}  // namespace

void BindPrograms(nb::module_& m) {
  nb::class_<Program>(m, "Program", "A module that is ready to run. Made by kashi.compile().")
      .def("run", &Program::Run,
           "Runs it on one argument for each parameter, an array or a tuple of arrays, and returns the result: an\n"
           "array, or a tuple for a tuple. TypeError if an argument does not fit.")
      .def("__call__", &Program::Run)
      .def_prop_ro("engine", &Program::engine, "'cpu', machine code, or 'evaluator'.");
  m.def(
      "compile", [](const ModuleRef& module) { return new Program(*module.state->module, true); }, nb::arg("module"),
      nb::rv_policy::take_ownership,
      "Compiles a copy of the module for this processor; without the compiled engine the evaluator runs it.\n\n"
      ">>> import numpy as np\n"
      ">>> m = kashi.parse('HloModule m\\nENTRY e {\\n  x = f32[3] parameter(0)\\n  ROOT y = f32[3] add(x, "
      "x)\\n}\\n')\n"
      ">>> kashi.compile(m).run(np.float32([1, 2, 3]))\narray([2., 4., 6.], dtype=float32)\n\n"
      "Raises ValueError for a module that the verifier refuses.");
  m.def(
      "evaluate",
      [](const ModuleRef& module, const nb::args& arguments) {
        return Program(*module.state->module, false).Run(arguments);
      },
      nb::arg("module"), nb::arg("arguments"), "The result of the program by the evaluator, in IEEE arithmetic.");
#ifdef KASHI_HAS_CPU
  m.attr("HAS_COMPILED_ENGINE") = true;
#else
  m.attr("HAS_COMPILED_ENGINE") = false;
#endif
}

}  // namespace kashi::python
