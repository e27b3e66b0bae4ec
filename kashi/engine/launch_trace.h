// LaunchTrace: the programs that devices run while somebody watches, and the time of each of their steps.
#ifndef KASHI_ENGINE_LAUNCH_TRACE_H_
#define KASHI_ENGINE_LAUNCH_TRACE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "kashi/engine/program.h"
#include "kashi/evaluator/step_profile.h"

namespace kashi::engine {

// Times are those of the monotonic clock. Thread-safe.
class LaunchTrace {
 public:
  struct Run {
    std::shared_ptr<const Program> program;  // its module has the instructions of the steps
    std::vector<int64_t> devices;            // ids
    int64_t begin_ns = 0, end_ns = 0;
    std::map<int64_t, std::vector<evaluator::StepEvent>> steps;  // by position in `devices`, in the order of their ends
    int64_t lost_steps = 0;                                      // for which there was no room
  };

  // The trace of all programs of this process.
  static LaunchTrace& Global();
  static int64_t NowNs();

  // ALREADY_EXISTS if somebody watches.
  absl::Status Begin() ABSL_LOCKS_EXCLUDED(mutex_);
  // The runs that ended since Begin, in the order of their ends.
  std::vector<Run> End() ABSL_LOCKS_EXCLUDED(mutex_);

  // Whether a run that begins now is to be added when it has ended.
  bool is_watched() const { return is_watched_.load(std::memory_order_relaxed); }
  // `profile`: of the run. Does nothing if nobody watches any more.
  void Add(Run run, const evaluator::StepProfile& profile) ABSL_LOCKS_EXCLUDED(mutex_);
  // How many steps of each device a run may keep.
  int64_t Room() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  std::atomic<bool> is_watched_{false};
  mutable absl::Mutex mutex_;
  std::vector<Run> runs_ ABSL_GUARDED_BY(mutex_);
  int64_t steps_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace kashi::engine

#endif  // KASHI_ENGINE_LAUNCH_TRACE_H_
