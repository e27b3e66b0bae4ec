#include "kashi/base/work_meter.h"

#include <ctime>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/str_format.h"
#include "kashi/base/status.h"

namespace kashi {
namespace {

using Clock = std::chrono::steady_clock;

// steady_clock to within a few milliseconds, where the system has a cheaper clock that says that.
Clock::time_point RoughNow() {
#if defined(__linux__) && defined(CLOCK_MONOTONIC_COARSE)
  timespec now;
  if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) == 0) {
    return Clock::time_point(std::chrono::duration_cast<Clock::duration>(std::chrono::seconds(now.tv_sec) +
                                                                         std::chrono::nanoseconds(now.tv_nsec)));
  }
#endif
  return Clock::now();
}

constexpr absl::string_view kLimitUrl = "kashi.LimitKind";

}  // namespace

absl::Status WorkMeter::Spend(int64_t work) {
  if (limits_.max_work > 0) {
    KASHI_RETURN_IF_ERROR(CheckCanSpend(work));
    int64_t spent = spent_.load(std::memory_order_relaxed);
    while (!spent_.compare_exchange_weak(spent, SaturatingAdd(spent, work), std::memory_order_relaxed)) {
    }
  }
  return Check();
}

absl::Status WorkMeter::CheckCanSpend(int64_t work) const {
  if (limits_.max_work <= 0 || work <= limits_.max_work - spent()) return absl::OkStatus();
  return WithLimitKind(
      ResourceExhausted("the run needs more than the limit of %d element operations", limits_.max_work),
      LimitKind::kWork);
}

bool WorkMeter::IsPastDeadline() const { return RoughNow() >= *limits_.deadline; }

absl::Status WorkMeter::WhyOver() const {
  const Ending end = end_.load(std::memory_order_relaxed);
  if (end == Ending::kCancelled) return Cancelled("The run was interrupted");
  if (end == Ending::kEnded) return Cancelled("The run was stopped");
  const double seconds = std::chrono::duration<double>(*limits_.deadline - limits_.start).count();
  const char* const unit = seconds == 1 ? "second" : "seconds";
  return WithLimitKind(absl::DeadlineExceededError(absl::StrFormat("The run took longer than %.6g %s", seconds, unit)),
                       LimitKind::kTime);
}

absl::Status WithLimitKind(absl::Status error, LimitKind kind) {
  error.SetPayload(kLimitUrl, absl::Cord(std::string(1, static_cast<char>(kind))));
  return error;
}

LimitKind LimitKindOf(const absl::Status& error) {
  const absl::optional<absl::Cord> payload = error.GetPayload(kLimitUrl);
  if (!payload.has_value() || payload->size() != 1) return LimitKind::kNone;
  return static_cast<LimitKind>(std::string(*payload)[0]);
}

absl::Status WithMessage(const absl::Status& error, absl::string_view message) {
  absl::Status other(error.code(), message);
  error.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { other.SetPayload(url, payload); });
  return other;
}

}  // namespace kashi
