// Entry point: ParallelFor. A loop is a Job on its caller's stack: the caller lists it, works on it itself until its
// ranges are used up, takes it off the list and waits for those workers that are still inside. A job therefore ends
// even if no worker ever comes (as in a forked child), and workers keep no pointer to it.
#include "kashi/base/parallel.h"

#include <cxxabi.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/container/fixed_array.h"
#include "kashi/base/denormals.h"
#include "kashi/base/math.h"
#include "kashi/base/processors.h"

namespace kashi::base {
namespace {

using Body = absl::FunctionRef<void(int64_t, int64_t, int)>;

// Threads look for so long before they sleep: waking one costs some tens of microseconds, and the system may wake it on
// the processor of the caller, where it waits for its turn.
constexpr std::chrono::microseconds kLook(200);

template <class Condition>
void LookFor(const Condition& condition) {
  if (condition()) return;
  const auto end = std::chrono::steady_clock::now() + kLook;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

int ThisProcessor() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

// Moves this thread to another processor if it runs on this one. Not every system does so by itself, however idle the
// others are: then two threads take turns for minutes (seen in virtual machines).
void LeaveProcessor([[maybe_unused]] int processor) {
#ifdef __linux__
  cpu_set_t allowed;
  if (processor < 0 || ThisProcessor() != processor) return;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2) return;
  cpu_set_t others = allowed;
  CPU_CLR(processor, &others);
  if (sched_setaffinity(0, sizeof(others), &others) == 0) sched_setaffinity(0, sizeof(allowed), &allowed);
#endif
}

// This thread's number while it runs a range of a split loop, else -1.
thread_local int current_thread = -1;

// The ranges that no thread has begun: `begin` to `end` - 1. Each has its own cache line.
class alignas(64) Share {
 public:
  void Set(uint32_t begin, uint32_t end) { ends_.store(Pack(begin, end), std::memory_order_relaxed); }

  // Takes a range, from the front or from the back; -1 if there is none.
  int64_t TakeFirst() {
    return Take([](uint32_t begin, uint32_t) { return begin; }, 1, 0);
  }
  int64_t TakeLast() {
    return Take([](uint32_t, uint32_t end) { return end - 1; }, 0, 1);
  }

 private:
  static uint64_t Pack(uint32_t begin, uint32_t end) { return uint64_t{begin} << 32 | end; }

  template <class Which>
  int64_t Take(Which which, uint32_t from_begin, uint32_t from_end) {
    uint64_t ends = ends_.load(std::memory_order_relaxed);
    while (true) {
      const uint32_t begin = ends >> 32, end = static_cast<uint32_t>(ends);
      if (begin >= end) return -1;
      const uint64_t left = Pack(begin + from_begin, end - from_end);
      if (ends_.compare_exchange_weak(ends, left, std::memory_order_relaxed)) return which(begin, end);
    }
  }

  std::atomic<uint64_t> ends_{0};
};

// Each thread has a share of neighbouring ranges, the same in every loop of the same length, so that its caches still
// hold the data it worked on before. Threads that are done help the others, from the far ends of
// their shares.
struct Job {
  Job(int64_t n, int64_t range, int threads, Body body)
      : n(n), range(range), body(body), ranges(CeilOfRatio(n, range)), shares(threads) {
    for (int64_t t = 0; t < threads; ++t) {
      shares[t].Set(static_cast<uint32_t>(ranges * t / threads), static_cast<uint32_t>(ranges * (t + 1) / threads));
    }
  }

  void Run(int thread) {
    const int outer = current_thread;
    current_thread = thread;
    for (int64_t i; (i = shares[thread].TakeFirst()) >= 0;) RunRange(i, thread);
    for (size_t other = 1; other < shares.size(); ++other) {
      Share& share = shares[(thread + other) % shares.size()];
      for (int64_t i; (i = share.TakeLast()) >= 0;) RunRange(i, thread);
    }
    current_thread = outer;
  }

  // The job is on the stack of its caller, who may not leave it before all threads have.
  void RunRange(int64_t i, int thread) {
    try {
      body(i * range, i + 1 == ranges ? n : (i + 1) * range, thread);
    } catch (const abi::__forced_unwind&) {
      throw;  // the thread ends here (pthread_exit)
    } catch (...) {
      if (!has_thrown.exchange(true)) exception = std::current_exception();
    }
  }

  const int64_t n;
  const int64_t range;  // length of a range
  const Body body;
  const int64_t ranges;  // a few a thread
  const int caller_processor = ThisProcessor();
  absl::FixedArray<Share, 4> shares;
  std::atomic<bool> has_thrown{false};
  std::exception_ptr exception;        // the first one
  std::atomic<int> workers_inside{0};  // changed under Pool::mutex_; a worker's last touch of the job
};

class Pool {
 public:
  explicit Pool(int workers) {
    try {
      // Detached, and the pool is never destroyed: so exit() is safe in any thread.
      for (int i = 1; i <= workers; ++i) std::thread([this, i] { Work(i); }).detach();
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are, at worst the caller alone, do the work.
    }
  }

  void Run(Job* job) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.push_back(job);
      listed_.store(jobs_.size(), std::memory_order_relaxed);
    }
    job_listed_.notify_all();
    job->Run(/*thread=*/0);
    std::unique_lock<std::mutex> lock(mutex_);
    TakeOff(job);
    lock.unlock();
    LookFor([job] { return job->workers_inside.load() == 0; });
    lock.lock();
    worker_left_.wait(lock, [job] { return job->workers_inside == 0; });
  }

 private:
  void Work(int thread) {
    const KeepDenormals keep;  // the thread that started this one may compute otherwise
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      lock.unlock();
      LookFor([this] { return listed_.load(std::memory_order_relaxed) > 0; });
      lock.lock();
      job_listed_.wait(lock, [this] { return !jobs_.empty(); });
      Job* job = jobs_.front();
      ++job->workers_inside;
      lock.unlock();
      LeaveProcessor(job->caller_processor);
      job->Run(thread);
      lock.lock();
      TakeOff(job);
      if (--job->workers_inside == 0) worker_left_.notify_all();
    }
  }

  // The job has no ranges left, so no thread needs to find it.
  void TakeOff(Job* job) {
    jobs_.erase(std::remove(jobs_.begin(), jobs_.end(), job), jobs_.end());
    listed_.store(jobs_.size(), std::memory_order_relaxed);
  }

  std::mutex mutex_;
  std::condition_variable job_listed_;
  std::condition_variable worker_left_;
  std::vector<Job*> jobs_;
  std::atomic<size_t> listed_{0};  // jobs_.size(), for those that look without the mutex
};

}  // namespace

int ParallelThreadCount() { return ProcessorCount(); }

void ParallelFor(int64_t n, int64_t grain, Body body) {
  if (n <= 0) return;
  // A few ranges a thread, so that one slow range does not hold up the loop.
  const int64_t range = std::max({int64_t{1}, grain, CeilOfRatio<int64_t>(n, int64_t{8} * ParallelThreadCount())});
  if (n <= range || ParallelThreadCount() == 1 || current_thread >= 0) {
    body(0, n, std::max(0, current_thread));
    return;
  }
  static Pool* const pool = new Pool(ParallelThreadCount() - 1);
  Job job(n, range, ParallelThreadCount(), body);
  pool->Run(&job);
  if (job.exception != nullptr) std::rethrow_exception(job.exception);
}

}  // namespace kashi::base
