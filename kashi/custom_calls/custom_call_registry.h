// Handlers of custom calls. A run tries, in this order: EvaluationOptions::custom_call_handler, this registry, and the
// targets that Kashi computes itself (kashi/evaluator/custom_call.cc).
//
//   CustomCallRegistry::Global().Register(
//       "scale", [](const HloInstruction& call, absl::Span<const Literal* const> x) {…});
#ifndef KASHI_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_
#define KASHI_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_

#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "kashi/literal/literal.h"

namespace kashi {

class HloInstruction;

// A custom call: computes the result from the operands. The result has the shape and layout of the instruction.
using CustomCallHandler = std::function<absl::StatusOr<Literal>(const HloInstruction& custom_call,
                                                                absl::Span<const Literal* const> operands)>;

// Handlers by custom_call_target. Thread-safe; a handler may be called by several threads at a time.
class CustomCallRegistry {
 public:
  // The registry of the process, which every run uses. Lives until the process ends.
  static CustomCallRegistry& Global();

  // Replaces the handler of the target. If a handler returns UNIMPLEMENTED, the next one is tried.
  void Register(absl::string_view target, CustomCallHandler handler);
  // Removes the handler of the target.
  void Unregister(absl::string_view target);
  // Empty if there is none.
  CustomCallHandler Find(absl::string_view target) const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, CustomCallHandler> handlers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kashi

#endif  // KASHI_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_
