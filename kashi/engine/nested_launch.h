// Programs that are started from within a program: by a handler of a custom call, on the thread that runs it.
#ifndef KASHI_ENGINE_NESTED_LAUNCH_H_
#define KASHI_ENGINE_NESTED_LAUNCH_H_

namespace kashi::engine {

// A mark on this thread, as long as one exists. They nest. `Tag` tells marks of different meanings apart.
template <typename Tag>
class ThreadMark {
 public:
  ThreadMark() { ++depth_; }
  ~ThreadMark() { --depth_; }
  ThreadMark(const ThreadMark&) = delete;
  ThreadMark& operator=(const ThreadMark&) = delete;

  static bool is_set() { return depth_ > 0; }

 private:
  static inline thread_local int depth_ = 0;
};

// LoadedProgram::Execute runs programs at once, on this thread: the queue of their device may wait for the program that
// is running.
using NestedLaunches = ThreadMark<struct NestedLaunchesTag>;

// This thread runs a program, its handlers, and the functions that wait for its results. They must not destroy the
// client of the program on this thread.
using RunningLaunch = ThreadMark<struct RunningLaunchTag>;

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_NESTED_LAUNCH_H_
