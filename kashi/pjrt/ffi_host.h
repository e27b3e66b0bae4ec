// Calls handlers of XLA's foreign functions (FFI) for custom calls.
//
//   custom-call ──> FfiHandlers: its handler ──> a frame: operands, results, attributes ──> the handler ──> a literal
#ifndef KASHI_PJRT_FFI_HOST_H_
#define KASHI_PJRT_FFI_HOST_H_

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "kashi/custom_calls/custom_call_registry.h"
#include "kashi/hlo/ir/hlo_instruction.h"
#include "kashi/pjrt/ffi_api.h"
#include "kashi/pjrt/ffi_attributes.h"

namespace kashi::pjrt {

// The calls of a loaded program: attributes and objects that their handlers made, from the first run on. Thread-safe.
class FfiCalls {
 public:
  struct OfInstruction {
    std::unique_ptr<FfiAttributes> attributes;
    XLA_FFI_Handler_Bundle handlers;
    FfiState state;  // of the stage that instantiates, which has run
  };
  // NOT_FOUND if there is no handler; errors of the attributes and of the handler.
  absl::StatusOr<OfInstruction*> Of(const HloInstruction& call);

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<OfInstruction>> calls_ ABSL_GUARDED_BY(mutex_);
};

// Whether a handler computes the call: Kashi does not, or it is one of LAPACK on large matrices, for which JAX brought
// a library that is tuned for this processor.
bool IsHandled(const HloInstruction& call);

// NOT_FOUND, in XLA's words.
absl::Status NoHandlerFor(const HloInstruction& call);

// A handler for ExecuteOptions, where IsHandled.
CustomCallHandler HandlerOf(std::shared_ptr<FfiCalls> calls, FfiRun run);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_HOST_H_
