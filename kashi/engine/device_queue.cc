#include "kashi/engine/device_queue.h"

#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/cleanup/cleanup.h"
#include "kashi/base/check.h"
#include "kashi/engine/nested_launch.h"

namespace kashi::engine {

DeviceQueue::~DeviceQueue() {
  Drain();
  std::vector<std::thread> threads;
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    threads.swap(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

bool DeviceQueue::Drain() {
  const absl::MutexLock lock(&mutex_);
  KASHI_CHECK(absl::c_none_of(threads_, [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  })) << "a client is destroyed by a callback that it calls";
  const bool waits = !IsIdle();
  mutex_.Await(absl::Condition(this, &DeviceQueue::IsIdle));
  return waits;
}

bool DeviceQueue::HasTasks() const {
  const absl::MutexLock lock(&mutex_);
  return !IsIdle();
}

void DeviceQueue::Push(Task task) {
  const Caller caller = ThisCaller();
  const absl::MutexLock lock(&mutex_);
  const auto [lane, is_new] = lanes_.try_emplace(caller);
  lane->second.push_back(std::move(task));
  if (!is_new || Serve(caller)) return;
  lanes_.erase(lane);
  throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

bool DeviceQueue::TryRun(absl::FunctionRef<void()> task) {
  const Caller caller = ThisCaller();
  {
    const absl::MutexLock lock(&mutex_);
    if (!lanes_.try_emplace(caller).second) return false;
  }
  const auto end = absl::MakeCleanup([&] {
    {
      const absl::MutexLock lock(&mutex_);
      const auto lane = lanes_.find(caller);
      if (lane->second.empty()) {
        lanes_.erase(lane);
        return;
      }
      // The task, or a function that it called, has pushed others.
      if (Serve(caller)) return;
    }
    RunLane(caller);
  });
  task();
  return true;
}

bool DeviceQueue::Serve(Caller caller) {
  waiting_.push_back(caller);
  if (waiting_.size() <= idle_threads_) return true;
  try {
    threads_.emplace_back([this] { Work(); });
    return true;
  } catch (const std::system_error&) {
    // The system gives no more threads: those there are do the work.
    if (!threads_.empty()) return true;
    waiting_.pop_back();
    return false;
  }
}

void DeviceQueue::Work() {
  while (true) {
    Caller caller;
    {
      const absl::MutexLock lock(&mutex_);
      ++idle_threads_;
      mutex_.Await(absl::Condition(this, &DeviceQueue::HasWork));
      --idle_threads_;
      if (waiting_.empty()) return;
      caller = waiting_.front();
      waiting_.pop_front();
    }
    RunLane(caller);
  }
}

void DeviceQueue::RunLane(Caller caller) {
  while (true) {
    Task task;
    {
      const absl::MutexLock lock(&mutex_);
      const auto lane = lanes_.find(caller);
      if (lane->second.empty()) {
        lanes_.erase(lane);
        return;
      }
      task = std::move(lane->second.front());
      lane->second.pop_front();
    }
    task();
    task = nullptr;  // its contents are freed before the queue looks idle
  }
}

}  // namespace kashi::engine
