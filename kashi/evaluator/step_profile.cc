#include "kashi/evaluator/step_profile.h"

#include <algorithm>
#include <chrono>

namespace kashi::evaluator {

int64_t StepClock::Advance() {
  const int64_t now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (!open_.empty()) times_[open_.back().time].own_ns += now - last_ns_;
  last_ns_ = now;
  return now;
}

void StepClock::Begin(const HloInstruction* instruction, int64_t joined) {
  const int64_t now = Advance();
  if (!open_.empty()) times_[open_.back().time].has_steps = true;
  const auto [place, is_new] = by_instruction_.try_emplace(instruction, times_.size());
  if (is_new) times_.push_back({instruction});
  ++times_[place->second].calls;
  times_[place->second].joined = joined;
  open_.push_back({place->second, now});
}

void StepClock::End() {
  const int64_t now = Advance();
  const OpenStep step = open_.back();
  open_.pop_back();
  // A loop ends after its steps, and a timeline needs both.
  const int64_t most_events = times_[step.time].has_steps ? 2 * most_events_ : most_events_;
  if (events_.size() < static_cast<size_t>(most_events)) {
    events_.push_back({times_[step.time].instruction, step.begin_ns, now});
  } else if (most_events_ > 0) {
    ++lost_events_;
  }
}

void StepClock::AddOverlap(const StepOverlap& overlap) {
  StepOverlap& sum = overlaps_.try_emplace(overlap.start, StepOverlap{overlap.start}).first->second;
  sum.calls += overlap.calls;
  sum.span_ns += overlap.span_ns;
  sum.hidden_ns += overlap.hidden_ns;
}

void StepClock::Clear() {
  overlaps_.clear();
  times_.clear();
  by_instruction_.clear();
  events_.clear();
  lost_events_ = 0;
}

StepClock* StepProfile::ClockOf(int64_t device) {
  const std::lock_guard lock(mutex_);
  return &clocks_.try_emplace(device, most_events_).first->second;
}

void StepProfile::Clear() {
  for (auto& [device, clock] : clocks_) clock.Clear();
}

std::vector<StepTime> StepProfile::Times() const {
  std::vector<StepTime> sums;
  absl::flat_hash_map<const HloInstruction*, size_t> by_instruction;
  for (const auto& [device, clock] : clocks_) {
    for (const StepTime& time : clock.times()) {
      const auto [place, is_new] = by_instruction.try_emplace(time.instruction, sums.size());
      if (is_new) sums.push_back({time.instruction});
      StepTime& sum = sums[place->second];
      sum.calls += time.calls;
      sum.own_ns += time.own_ns;
      sum.has_steps |= time.has_steps;
      sum.joined = std::max(sum.joined, time.joined);
    }
  }
  return sums;
}

}  // namespace kashi::evaluator
