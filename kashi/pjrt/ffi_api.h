// The table of functions that handlers call, and the objects behind its pointers.
#ifndef KASHI_PJRT_FFI_API_H_
#define KASHI_PJRT_FFI_API_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "kashi/pjrt/ffi_c_api.h"

struct XLA_FFI_Error {
  absl::Status status;
  std::string message;  // zero-ended
};

struct XLA_FFI_Future {
  absl::Status Await();
  void Complete(absl::Status with);

  absl::Mutex mutex;
  bool is_done ABSL_GUARDED_BY(mutex) = false;
  absl::Status status ABSL_GUARDED_BY(mutex);
};

namespace kashi::pjrt {

// Objects that handlers keep from one call to the next, by stage. They are freed by the deleters of their types.
class FfiState {
 public:
  FfiState() = default;
  ~FfiState();
  FfiState(const FfiState&) = delete;
  FfiState& operator=(const FfiState&) = delete;

  // ALREADY_EXISTS if the stage has one.
  absl::Status Set(int stage, int64_t type_id, void* object) ABSL_LOCKS_EXCLUDED(mutex_);
  // NOT_FOUND; INVALID_ARGUMENT if it is of another type.
  absl::Status Get(int stage, int64_t type_id, void** object) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Object {
    int64_t type_id;
    void* data;
  };
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<int, Object> objects_ ABSL_GUARDED_BY(mutex_);
};

// The data of a run for the handlers of its custom calls.
struct FfiRun {
  absl::flat_hash_map<int64_t, void*> user_data;  // by the number of its type
  int64_t run_id = 0;
  int32_t device_ordinal = 0;  // of a program of one device; in others, that of its first
};

}  // namespace kashi::pjrt

// One call of a handler. Waits, when it ends, for the tasks that the handler scheduled.
struct XLA_FFI_ExecutionContext {
  XLA_FFI_ExecutionContext(const kashi::pjrt::FfiRun& of, kashi::pjrt::FfiState& its_state, kashi::pjrt::FfiState& kept)
      : run(of), call_state(its_state), program_state(kept) {}
  ~XLA_FFI_ExecutionContext();

  const kashi::pjrt::FfiRun& run;
  kashi::pjrt::FfiState& call_state;     // of this call
  kashi::pjrt::FfiState& program_state;  // of the instruction: objects of the stage that instantiates
  absl::Mutex mutex;
  std::vector<void*> memory ABSL_GUARDED_BY(mutex);
  std::vector<std::thread> tasks ABSL_GUARDED_BY(mutex);
};

namespace kashi::pjrt {

const XLA_FFI_Api* FfiApi();
// The status of an error, which it frees; null: OK.
absl::Status TakeStatus(XLA_FFI_Error* error);

}  // namespace kashi::pjrt

#endif  // KASHI_PJRT_FFI_API_H_
