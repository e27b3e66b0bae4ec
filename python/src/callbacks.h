// Functions of Python that a run calls: those of custom calls (the program's, and those of
// kashi.register_custom_call), and an observer.
#ifndef KASHI_PYTHON_SRC_CALLBACKS_H_
#define KASHI_PYTHON_SRC_CALLBACKS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "binding.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "module.h"

namespace kashi::python {

// The targets of the module's custom calls, in all computations, each once.
std::set<std::string> CustomCallTargets(const HloModule& module);

// A program's own functions: a copy of a dict from targets, which may be None. TypeError for others, and for values
// that cannot be called; ValueError if it has a target that is not among those of the module.
nb::dict CustomCallsOf(nb::handle custom_calls, const HloModule& module, const std::set<std::string>& targets);

// Whether one of these functions, or of those of register_custom_call, is for one of the targets. Needs the GIL.
bool HasFunction(nb::handle functions, const std::set<std::string>& targets);

// The functions that one run calls. The run may be on any threads and must not hold the GIL: the functions take it. An
// exception of a function ends the run with an error; Rethrow then raises the exception itself.
class Callbacks {
 public:
  // Calls the program's function, else the one that is registered at the time of the call. UNIMPLEMENTED where there is
  // none: Kashi's own come next. `functions` is a dict, and must outlive the run.
  CustomCallHandler custom_calls(nb::handle functions);
  // Calls observer(instruction, value) after each instruction of a copy of the module; the instruction is the module's.
  // None: empty. The module must not be edited during the run.
  std::function<absl::Status(const HloInstruction&, const Value&)> observer(const ModuleRef& module,
                                                                            nb::handle function);
  // Needs the GIL. Raises the first exception of a function, if there was one.
  void Rethrow();

 private:
  // Keeps the first exception. With the GIL.
  struct Failure {
    absl::Status Keep(nb::python_error error, const HloInstruction& instruction);

    std::mutex mutex;
    std::unique_ptr<nb::python_error> error;
  };
  static absl::StatusOr<Literal> CallFunction(nb::handle functions, const HloInstruction& call,
                                              absl::Span<const Literal* const> operands, Failure* failure);
  static absl::Status CallObserver(const ModuleRef& module, nb::handle function, const HloInstruction& instruction,
                                   const Value& value, Failure* failure);

  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_CALLBACKS_H_
