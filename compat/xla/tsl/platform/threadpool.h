// tsl::thread::ThreadPool: threads that take work from one queue. The destructor waits until all of it is done.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_THREADPOOL_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_THREADPOOL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "xla/tsl/platform/env.h"

namespace tsl {

struct ThreadOptions {
  size_t stack_size = 0;
  size_t guard_size = 0;
  int numa_node = -1;
};

namespace thread {

class ThreadPool {
 public:
  ThreadPool(Env* /*env*/, const std::string& /*name*/, int num_threads) {
    for (int i = 0; i < num_threads; ++i) {
      threads_.emplace_back([this, i] { Work(i); });
    }
  }
  ThreadPool(Env* env, const ThreadOptions& /*options*/, const std::string& name, int num_threads,
             bool /*low_latency_hint*/ = true)
      : ThreadPool(env, name, num_threads) {}
  ThreadPool(const ThreadPool&) = delete;
  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_closing_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void Schedule(std::function<void()> work) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
  }
  int NumThreads() const { return static_cast<int>(threads_.size()); }
  // The number of the calling thread in its pool; -1 outside of one.
  int CurrentThreadId() const { return thread_id_; }

 private:
  void Work(int id) {
    thread_id_ = id;
    while (true) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return is_closing_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
    }
  }

  static inline thread_local int thread_id_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace thread
}  // namespace tsl

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_THREADPOOL_H_
