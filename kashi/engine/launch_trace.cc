#include "kashi/engine/launch_trace.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace kashi::engine {
namespace {

// Of all runs together: 100 MB. And of a run on one device.
constexpr int64_t kMostSteps = 4'000'000, kMostStepsOfRun = 200'000;

}  // namespace

LaunchTrace& LaunchTrace::Global() {
  static auto& trace = *new LaunchTrace;
  return trace;
}

int64_t LaunchTrace::NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

absl::Status LaunchTrace::Begin() {
  const absl::MutexLock lock(&mutex_);
  if (is_watched_.exchange(true)) return absl::AlreadyExistsError("a profile of Kashi's programs is being taken");
  return absl::OkStatus();
}

std::vector<LaunchTrace::Run> LaunchTrace::End() {
  const absl::MutexLock lock(&mutex_);
  is_watched_.store(false);
  steps_ = 0;
  return std::exchange(runs_, {});
}

void LaunchTrace::Add(Run run, const evaluator::StepProfile& profile) {
  for (const auto& [device, clock] : profile.clocks()) {
    run.steps[device] = clock.events();
    run.lost_steps += clock.lost_events();
  }
  const absl::MutexLock lock(&mutex_);
  if (!is_watched_.load()) return;
  for (const auto& [device, steps] : run.steps) steps_ += static_cast<int64_t>(steps.size());
  runs_.push_back(std::move(run));
}

int64_t LaunchTrace::Room() const {
  const absl::MutexLock lock(&mutex_);
  return std::clamp<int64_t>(kMostSteps - steps_, 1, kMostStepsOfRun);
}

}  // namespace kashi::engine
