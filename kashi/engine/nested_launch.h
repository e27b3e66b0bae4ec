// Who starts a program on this thread: its own code, or a program that runs on it, through a handler of a custom call.
#ifndef KASHI_ENGINE_NESTED_LAUNCH_H_
#define KASHI_ENGINE_NESTED_LAUNCH_H_

#include <cstdint>
#include <utility>

namespace kashi::engine {

// The caller of the queues (device_queue.h) on this thread. No two threads are one, also not one after the other.
uint64_t ThisCaller();

// While one exists, this thread is another caller, as a new thread would be: programs that a handler starts do not wait
// for the program whose handler it is. They nest.
class NestedCaller {
 public:
  NestedCaller() : outer_(std::exchange(current_, 0)) {}
  ~NestedCaller() { current_ = outer_; }
  NestedCaller(const NestedCaller&) = delete;
  NestedCaller& operator=(const NestedCaller&) = delete;

 private:
  friend uint64_t ThisCaller();
  static inline thread_local uint64_t current_ = 0;  // 0: it has not been asked for

  const uint64_t outer_;
};

// While one exists, this thread runs a program, its handlers, and the functions that wait for its results. They must
// not destroy the client of the program on this thread. They nest.
class RunningLaunch {
 public:
  RunningLaunch() { ++depth_; }
  ~RunningLaunch() { --depth_; }
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;

  static bool is_set() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_NESTED_LAUNCH_H_
