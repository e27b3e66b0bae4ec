#include "kashi/engine/device_queue.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "kashi/base/check.h"

namespace kashi::engine {

DeviceQueue::~DeviceQueue() {
  Drain();
  std::thread thread;
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

bool DeviceQueue::Drain() {
  const absl::MutexLock lock(&mutex_);
  KASHI_CHECK(thread_.get_id() != std::this_thread::get_id()) << "a client is destroyed by a callback that it calls";
  const bool waits = !IsIdle();
  mutex_.Await(absl::Condition(this, &DeviceQueue::IsIdle));
  return waits;
}

void DeviceQueue::Push(Task task) {
  const absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
  if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
}

bool DeviceQueue::TryRun(absl::FunctionRef<void()> task) {
  {
    const absl::MutexLock lock(&mutex_);
    if (is_busy_ || !tasks_.empty()) return false;
    is_busy_ = true;
  }
  const auto end = absl::MakeCleanup([this] {
    const absl::MutexLock lock(&mutex_);
    is_busy_ = false;
  });
  task();
  return true;
}

void DeviceQueue::Work() {
  while (true) {
    Task task;
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &DeviceQueue::HasWork));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      is_busy_ = true;
    }
    task();
    task = nullptr;  // its contents are freed before the queue looks idle
    const absl::MutexLock lock(&mutex_);
    is_busy_ = false;
  }
}

}  // namespace kashi::engine
