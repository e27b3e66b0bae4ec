// The state of a buffer, which the programs that read or compute it share with its handle.
#ifndef KASHI_ENGINE_BUFFER_STATE_H_
#define KASHI_ENGINE_BUFFER_STATE_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "kashi/array/shape.h"
#include "kashi/engine/event.h"
#include "kashi/values/value.h"

namespace kashi::engine {

// The elements of a buffer. Handles that SharedIn made share them.
struct BufferElements {
  explicit BufferElements(Event when) : ready(std::move(when)) {}
  explicit BufferElements(Value there, bool of_caller = false) : value(std::move(there)), is_lent(of_caller) {}

  // The producer of the elements writes it before `ready`; it is empty after an error. A program that holds the only
  // reference to this struct takes it.
  Value value;
  const Event ready;
  const bool is_lent = false;  // memory of the caller, who may change it when the buffer is gone: no result shares it
};

struct BufferState {
  BufferState(Shape of_buffer, std::shared_ptr<BufferElements> its_elements)
      : shape(std::move(of_buffer)), ready(its_elements->ready), elements(std::move(its_elements)) {}

  // INVALID_ARGUMENT if the buffer was deleted.
  absl::StatusOr<std::shared_ptr<BufferElements>> Elements() ABSL_LOCKS_EXCLUDED(mutex) {
    const absl::MutexLock lock(&mutex);
    if (elements == nullptr) return absl::InvalidArgumentError("Buffer has been deleted or donated.");
    return elements;
  }
  // Deletes the buffer, and returns its elements. Null: it was deleted before.
  std::shared_ptr<BufferElements> Take() ABSL_LOCKS_EXCLUDED(mutex) {
    const absl::MutexLock lock(&mutex);
    return std::move(elements);
  }

  const Shape shape;
  const Event ready;
  absl::Mutex mutex;
  std::shared_ptr<BufferElements> elements ABSL_GUARDED_BY(mutex);
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_BUFFER_STATE_H_
