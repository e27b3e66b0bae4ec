// Custom calls by functions of Python: kashi.register_custom_call("target", function).
#ifndef KASHI_PYTHON_SRC_CUSTOM_CALLS_H_
#define KASHI_PYTHON_SRC_CUSTOM_CALLS_H_

#include <memory>
#include <mutex>

#include "binding.h"
#include "kashi/evaluator/evaluation_options.h"
#include "kashi/hlo/ir/hlo_module.h"

namespace kashi::python {

// Whether the module has a custom call, in any computation.
bool HasCustomCalls(const HloModule& module);

// The custom calls of one run. The run may be on any threads and must not hold the GIL: the functions take it. An
// exception of a function ends the run with an error; Rethrow then raises the exception itself.
class CustomCallRun {
 public:
  // Calls the functions that are registered at each call. UNIMPLEMENTED where there is none: then Kashi's own are tried.
  CustomCallHandler handler();
  // With the GIL. Raises the first exception of a function, if there was one.
  void Rethrow();

 private:
  struct Failure {
    std::mutex mutex;
    std::unique_ptr<nb::python_error> error;
  };
  static absl::StatusOr<Literal> CallFunction(const HloInstruction& call, absl::Span<const Literal* const> operands,
                                              Failure* failure);

  std::shared_ptr<Failure> failure_ = std::make_shared<Failure>();
};

}  // namespace kashi::python

#endif  // KASHI_PYTHON_SRC_CUSTOM_CALLS_H_
