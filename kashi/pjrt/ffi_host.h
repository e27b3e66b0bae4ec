// Calls handlers of XLA's foreign functions (FFI) for custom calls.
//
//   custom-call ──> FfiHandlers: its handler ──> a frame: operands, results, attributes ──> the handler ──> a literal
#ifndef KASHI_PJRT_FFI_HOST_H_
#define KASHI_PJRT_FFI_HOST_H_

#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/hlo/ir/hlo_module.h"
#include "kashi/pjrt/ffi_api.h"
#include "kashi/pjrt/ffi_attributes.h"

namespace kashi::pjrt {

// Whether a handler computes the call: Kashi does not, or it is one of LAPACK on large matrices, for which JAX brought
// a library that is tuned for this processor.
bool IsHandled(const HloInstruction& call);

// NOT_FOUND, in XLA's words.
absl::Status NoHandlerFor(const HloInstruction& call);

// The calls of a loaded program: attributes, and the objects that handlers made when it was loaded. Thread-safe.
class FfiCalls {
 public:
  struct OfInstruction {
    std::unique_ptr<FfiAttributes> attributes;
    XLA_FFI_Handler_Bundle handlers;
    FfiState state;  // of the stage that instantiates, which has run
  };

  // Runs the stage that instantiates for each call of the module where IsHandled, as XLA does when it compiles. The
  // handler may be Python, and compile and run programs. NOT_FOUND if there is no handler; errors of the attributes and
  // of the handlers.
  static absl::StatusOr<std::shared_ptr<const FfiCalls>> Instantiate(const HloModule& module);

  bool empty() const { return calls_.empty(); }
  // Whether some are calls of Python functions, as JAX writes them.
  bool calls_python() const { return calls_python_; }
  // Null: a handler was not asked for it.
  OfInstruction* Of(const HloInstruction& call) const;

 private:
  FfiCalls() = default;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<OfInstruction>> calls_;
  bool calls_python_ = false;
};

// A handler for ExecuteOptions, for the instructions that `calls` has.
CustomCallHandler HandlerOf(std::shared_ptr<const FfiCalls> calls, FfiRun run);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_HOST_H_
