// StepProfile: the time of each step of one or several runs. A step evaluates an instruction: it is a function of the
// evaluator, or a kernel, a native function or a thunk of the compiled engine.
//
//   StepProfile profile;
//   hooks.profile = &profile;
//   EvaluationRun run(options);
//   … run.Call(entry, arguments) …
//   for (const StepTime& step : profile.Times()) … step.instruction, step.calls, step.own_ns …
//
// A profile reads the clock twice per step, which costs up to 100 ns. Without a profile, a step costs a comparison with
// null; a whole sequence of thunks costs one.
#ifndef KASHI_EVALUATOR_STEP_PROFILE_H_
#define KASHI_EVALUATOR_STEP_PROFILE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kashi/hlo/ir/hlo_instruction.h"

namespace kashi::evaluator {

struct StepTime {
  const HloInstruction* instruction;  // null: the run itself, whose own time is the time between its steps
  int64_t calls = 0;
  int64_t own_ns = 0;      // without the steps within it, such as those of a loop's body
  bool has_steps = false;  // there were steps within it
  int64_t joined = 1;      // steps that one function runs, of which this is the last
};

// From begin_ns to end_ns, by the monotonic clock.
struct StepEvent {
  const HloInstruction* instruction;  // null: the run itself
  int64_t begin_ns, end_ns;
};

// An operation that one instruction starts and another ends (all-reduce-start); sums over its calls.
struct StepOverlap {
  const HloInstruction* start;
  int64_t calls = 0;
  int64_t span_ns = 0;    // from the begin of the one to the end of the other
  int64_t hidden_ns = 0;  // of it: the operation was under way, and the device did other work
};

// The clock of one run. Not thread-safe.
class StepClock {
 public:
  explicit StepClock(int64_t most_events) : most_events_(most_events) {}

  // Whether no step is in progress.
  bool is_idle() const { return open_.empty(); }
  void Begin(const HloInstruction* instruction, int64_t joined = 1);
  // Ends the step that began last.
  void End();
  void AddOverlap(const StepOverlap& overlap);
  // Forgets all steps. Pre: is_idle().
  void Clear();

  const std::vector<StepTime>& times() const { return times_; }
  const std::map<const HloInstruction*, StepOverlap>& overlaps() const { return overlaps_; }
  // In the order of their ends.
  const std::vector<StepEvent>& events() const { return events_; }
  // The number of events that were not kept.
  int64_t lost_events() const { return lost_events_; }

 private:
  struct OpenStep {
    size_t time;  // in times_
    int64_t begin_ns;
  };
  // Adds the time since the last change to the innermost step.
  int64_t Advance();

  int64_t most_events_;
  int64_t last_ns_ = 0;
  int64_t lost_events_ = 0;
  std::vector<OpenStep> open_;
  std::vector<StepTime> times_;
  std::vector<StepEvent> events_;
  std::map<const HloInstruction*, StepOverlap> overlaps_;
  absl::flat_hash_map<const HloInstruction*, size_t> by_instruction_;  // in times_
};

class StepProfile {
 public:
  // most_events: the number of events to keep for each device, and as many again for steps with inner steps; 0: times
  // only.
  explicit StepProfile(int64_t most_events = 0) : most_events_(most_events) {}

  // The clock of a device (0: the only one), for one run after the other. It lives as long as the profile. Any thread.
  StepClock* ClockOf(int64_t device);

  // While no run is in progress:
  void Clear();
  // The sums over all devices, in no order.
  std::vector<StepTime> Times() const;
  // The clocks, by device.
  const std::map<int64_t, StepClock>& clocks() const { return clocks_; }

 private:
  const int64_t most_events_;
  std::mutex mutex_;  // of clocks_, while runs are in progress
  std::map<int64_t, StepClock> clocks_;
};

// Measures a step during its lifetime, or several that end with it. `clock` may be null: does nothing.
class MeasuredStep {
 public:
  MeasuredStep(StepClock* clock, const HloInstruction* instruction, int64_t joined = 1) : clock_(clock) {
    if (clock_ != nullptr) clock_->Begin(instruction, joined);
  }
  ~MeasuredStep() {
    if (clock_ != nullptr) clock_->End();
  }
  MeasuredStep(const MeasuredStep&) = delete;
  MeasuredStep& operator=(const MeasuredStep&) = delete;

 private:
  StepClock* const clock_;
};

}  // namespace kashi::evaluator

#endif  // KASHI_EVALUATOR_STEP_PROFILE_H_
