// WorkMeter: the limits of a program that a user runs. It counts work, checks a deadline and a cancellation flag, and
// returns an error when the program must stop.
//
//   WorkLimits limits;
//   limits.max_work = 1'000'000'000;
//   limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
//   WorkMeter meter(limits);
//   KASHI_RETURN_IF_ERROR(meter.Spend(elements));       // before each piece of work
//   KASHI_RETURN_IF_ERROR(meter.Check());               // regularly during long work, in every thread
//   …
//   KASHI_RETURN_IF_ERROR(meter.Check());               // after the last piece, before a result is given out
//
// A meter whose limit was exceeded once stays so, even if the flag is reset or no thread passes the error on. So the
// last check has an error if any check before it had one: a result is only given out if it is complete.
//
// A unit of work is about one operation on one element; the caller defines it. All functions are thread-safe. A check
// costs some nanoseconds: check once per few thousand operations.
#ifndef KASHI_BASE_WORK_METER_H_
#define KASHI_BASE_WORK_METER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kashi/base/math.h"

namespace kashi {

// For sums and products of work, none of it negative: larger results stay at INT64_MAX.
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(INT64_MAX); }
constexpr int64_t SaturatingMultiply(int64_t a, int64_t b) { return CheckedMultiply(a, b).value_or(INT64_MAX); }

struct WorkLimits {
  int64_t max_work = 0;  // 0: any
  std::optional<std::chrono::steady_clock::time_point> deadline;
  const std::atomic<bool>* cancelled = nullptr;  // set to interrupt; must outlive the meter
  // Called at each check: true interrupts. Several threads may call it at once. Null: never called.
  std::function<bool()> is_cancelled = nullptr;
  // The start of the time until the deadline: errors tell how long that time was.
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

class WorkMeter {
 public:
  explicit WorkMeter(const WorkLimits& limits = {}) : limits_(limits) {}
  WorkMeter(const WorkMeter&) = delete;
  WorkMeter& operator=(const WorkMeter&) = delete;

  // Counts work that is about to be done (at least 0; the count stays at INT64_MAX). RESOURCE_EXHAUSTED beyond the
  // limit, else as Check.
  absl::Status Spend(int64_t work);
  // RESOURCE_EXHAUSTED if that much more would be beyond the limit. Counts nothing.
  absl::Status CheckCanSpend(int64_t work) const;
  // CANCELLED when interrupted or ended, DEADLINE_EXCEEDED past the deadline.
  absl::Status Check() const { return IsOver() ? WhyOver() : absl::OkStatus(); }
  // Whether Check has an error.
  bool IsOver() const {
    return end_.load(std::memory_order_relaxed) != Ending::kNone ||
           (limits_.cancelled != nullptr && limits_.cancelled->load(std::memory_order_relaxed) &&
            EndBecause(Ending::kCancelled)) ||
           (limits_.is_cancelled != nullptr && limits_.is_cancelled() && EndBecause(Ending::kCancelled)) ||
           (limits_.deadline.has_value() && IsPastDeadline() && EndBecause(Ending::kDeadline));
  }
  // Ends the work of all threads that ask, for a reason that the caller keeps.
  void End() { EndBecause(Ending::kEnded); }

  int64_t spent() const { return spent_.load(std::memory_order_relaxed); }

 private:
  enum class Ending : char { kNone, kEnded, kCancelled, kDeadline };

  bool IsPastDeadline() const;
  // Stores the reason why the work ends; the first reason stays. Returns true.
  bool EndBecause(Ending reason) const {
    Ending none = Ending::kNone;
    end_.compare_exchange_strong(none, reason, std::memory_order_relaxed);
    return true;
  }
  absl::Status WhyOver() const;

  const WorkLimits limits_;
  std::atomic<int64_t> spent_{0};
  mutable std::atomic<Ending> end_{Ending::kNone};
};

// A check that long loops without a meter call now and then: an error ends the loop, which returns it, because the
// results so far are of no use. Cheap. Any thread may call it, several at once.
using StopFunction = absl::FunctionRef<absl::Status()>;
inline absl::Status NeverStopped() { return absl::OkStatus(); }

// The limit that an error is about, stored as a payload of the error: code that knows how the limit was given can then
// name the option.
enum class LimitKind { kNone, kWork, kTime, kIterations, kMemory };
absl::Status WithLimitKind(absl::Status error, LimitKind kind);
LimitKind LimitKindOf(const absl::Status& error);

// Returns the error with another message.
absl::Status WithMessage(const absl::Status& error, absl::string_view message);

}  // namespace kashi

#endif  // KASHI_BASE_WORK_METER_H_
