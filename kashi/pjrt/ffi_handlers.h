// The handlers of custom calls that callers brought, and the types of the objects that they exchange with them.
#ifndef KASHI_PJRT_FFI_HANDLERS_H_
#define KASHI_PJRT_FFI_HANDLERS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "kashi/pjrt/ffi_c_api.h"

namespace kashi::pjrt {

// Thread-safe.
class FfiHandlers {
 public:
  static FfiHandlers& Global();

  // Asks the handler for its version. Replaces an earlier one of this target. INVALID_ARGUMENT without `execute`, for
  // another platform than "Host" and "cpu", and for another major version of the interface.
  absl::Status Register(absl::string_view target, absl::string_view platform, const XLA_FFI_Handler_Bundle& bundle);
  std::optional<XLA_FFI_Handler_Bundle> Find(absl::string_view target) const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, XLA_FFI_Handler_Bundle> bundles_ ABSL_GUARDED_BY(mutex_);
};

// Thread-safe.
class FfiTypes {
 public:
  using Deleter = void (*)(void* object);
  static FfiTypes& Global();

  // *id: that of the type; 0 is replaced by a new one, or by that of this name. INVALID_ARGUMENT for a name or a number
  // that another type has.
  absl::Status Register(absl::string_view name, Deleter deleter, int64_t* id);
  // Null: the type has none.
  Deleter DeleterOf(int64_t id) const;

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, int64_t> ids_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<int64_t, Deleter> deleters_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_HANDLERS_H_
