// Programs that are started from within a program: by a handler of a custom call, on the thread that runs it.
#ifndef KASHI_ENGINE_NESTED_LAUNCH_H_
#define KASHI_ENGINE_NESTED_LAUNCH_H_

namespace kashi::engine {

// While one exists on this thread, LoadedProgram::Execute runs programs at once, on this thread: the queue of their
// device may wait for the program that is running.
class NestedLaunches {
 public:
  NestedLaunches() { ++depth_; }
  ~NestedLaunches() { --depth_; }
  NestedLaunches(const NestedLaunches&) = delete;
  NestedLaunches& operator=(const NestedLaunches&) = delete;

  static bool is_nested() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

// While one exists, this thread runs a program, its handlers, and the functions that wait for its results. They must
// not destroy the client of the program on this thread.
class RunningLaunch {
 public:
  RunningLaunch() { ++depth_; }
  ~RunningLaunch() { --depth_; }
  RunningLaunch(const RunningLaunch&) = delete;
  RunningLaunch& operator=(const RunningLaunch&) = delete;

  static bool is_running() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_NESTED_LAUNCH_H_
