// DeviceQueue: the work of one device, in order, on a thread of its own.
#ifndef KASHI_ENGINE_DEVICE_QUEUE_H_
#define KASHI_ENGINE_DEVICE_QUEUE_H_

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace kashi::engine {

// Thread-safe. The thread starts with the first task.
class DeviceQueue {
 public:
  using Task = std::function<void()>;

  DeviceQueue() = default;
  // Pre: the queue is empty, and no thread uses it any more. Dies on its own thread.
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Runs the task after all earlier ones.
  void Push(Task task) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the task now, on this thread, if no other is before it. Otherwise returns false without running the task.
  bool TryRun(absl::FunctionRef<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until the queue is empty and no task runs. Returns whether it waited. Dies on the thread of the queue.
  bool Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !is_busy_ && tasks_.empty(); }
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !is_busy_ && (!tasks_.empty() || is_ending_); }

  absl::Mutex mutex_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mutex_);
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;  // a task runs
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DEVICE_QUEUE_H_
