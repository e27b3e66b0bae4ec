#include "cli/hard_stop.h"

#include <unistd.h>

#include <chrono>

#include "cli/temporary_file.h"
#include "cli/verb.h"
#include "kashi/base/work_meter.h"

namespace kashi::cli {
namespace {

// Ctrl-C only sets a flag, so it is looked at now and then.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

HardStop::HardStop(const LimitOptions& limits, const Interrupt& interrupt)
    : limits_(limits), interrupt_(interrupt), thread_([this] { Watch(); }) {}

HardStop::~HardStop() {
  End();
  thread_.join();
}

void HardStop::End() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_over_ = true;
  changed_.notify_all();
}

void HardStop::Watch() {
  const WorkMeter meter(WorkLimitsOf(limits_, &interrupt_.flag()));
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_over = [this] { return is_over_; };
  while (!meter.IsOver()) {
    if (changed_.wait_for(lock, kPause, is_over)) return;
  }
  if (changed_.wait_for(lock, kGrace, is_over)) return;
  TemporaryFile::RemoveBeforeExit();
  if (interrupt_.flag().load()) _exit(PrintInterrupted());
  _exit(Fail(NameLimitOption(meter.Check())));  // no destructor may wait for the work
}

}  // namespace kashi::cli
