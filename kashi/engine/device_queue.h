// DeviceQueue: the work of one device. The tasks of each caller (nested_launch.h) run in order; those of different
// callers do not wait for each other, as on XLA's CPU devices: the handler of a program may wait for one that another
// thread starts.
#ifndef KASHI_ENGINE_DEVICE_QUEUE_H_
#define KASHI_ENGINE_DEVICE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"

namespace kashi::engine {

// Thread-safe. It has as many threads as callers had tasks waiting at one time; they start when they are needed.
class DeviceQueue {
 public:
  using Task = std::function<void()>;

  DeviceQueue() = default;
  // Waits for all tasks. Pre: no other thread gives it any more. Dies on a thread of the queue.
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Runs the task after all earlier ones of this caller. Throws std::system_error if the system gives no thread.
  void Push(Task task) ABSL_LOCKS_EXCLUDED(mutex_);
  // Runs the task now, on this thread, if no other one of this caller is before it. Otherwise returns false without
  // running the task.
  bool TryRun(absl::FunctionRef<void()> task) ABSL_LOCKS_EXCLUDED(mutex_);
  // Whether a task waits or runs.
  bool HasTasks() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Waits until there is no task. Returns whether it waited. Dies on a thread of the queue.
  bool Drain() ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  using Caller = uint64_t;
  // The tasks of a caller behind the one that runs. There is one as long as a task runs or waits.
  using Lane = std::list<Task>;

  // Lets a thread of the queue run the lane; starts one if the others have work. False: there is none.
  bool Serve(Caller caller) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work() ABSL_LOCKS_EXCLUDED(mutex_);
  void RunLane(Caller caller) ABSL_LOCKS_EXCLUDED(mutex_);
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return lanes_.empty(); }
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !waiting_.empty() || is_ending_; }

  mutable absl::Mutex mutex_;
  absl::flat_hash_map<Caller, Lane> lanes_ ABSL_GUARDED_BY(mutex_);
  std::deque<Caller> waiting_ ABSL_GUARDED_BY(mutex_);  // lanes with tasks that no thread runs yet
  size_t idle_threads_ ABSL_GUARDED_BY(mutex_) = 0;     // those that wait for work
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_DEVICE_QUEUE_H_
