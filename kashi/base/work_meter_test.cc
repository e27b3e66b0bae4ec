#include "kashi/base/work_meter.h"

#include <limits>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

using Clock = std::chrono::steady_clock;

TEST(WorkMeterTest, WithoutLimitsNothingEnds) {
  WorkMeter meter;
  EXPECT_TRUE(meter.Spend(std::numeric_limits<int64_t>::max()).ok());
  EXPECT_TRUE(meter.Spend(std::numeric_limits<int64_t>::max()).ok());
  EXPECT_FALSE(meter.IsOver());
}

TEST(WorkMeterTest, CountsWork) {
  WorkLimits limits;
  limits.max_work = 10;
  WorkMeter meter(limits);
  EXPECT_TRUE(meter.Spend(7).ok());
  EXPECT_TRUE(meter.CheckCanSpend(3).ok());
  EXPECT_FALSE(meter.CheckCanSpend(4).ok());
  EXPECT_TRUE(meter.Spend(3).ok());
  const absl::Status error = meter.Spend(1);
  EXPECT_EQ(error.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(LimitKindOf(error), LimitKind::kWork);
  EXPECT_EQ(meter.spent(), 10);
  EXPECT_FALSE(meter.Spend(std::numeric_limits<int64_t>::max()).ok());
}

TEST(WorkMeterTest, EndsAtTheDeadline) {
  WorkLimits limits;
  limits.deadline = Clock::now() + std::chrono::hours(1);
  EXPECT_FALSE(WorkMeter(limits).IsOver());
  limits.deadline = Clock::now() - std::chrono::seconds(1);
  const absl::Status error = WorkMeter(limits).Check();
  EXPECT_EQ(error.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(LimitKindOf(error), LimitKind::kTime);
}

TEST(WorkMeterTest, EndsWhenInterrupted) {
  std::atomic<bool> cancelled(false);
  WorkLimits limits;
  limits.cancelled = &cancelled;
  WorkMeter meter(limits);
  EXPECT_TRUE(meter.Check().ok());
  cancelled = true;
  EXPECT_TRUE(meter.IsOver());
  EXPECT_EQ(meter.Spend(1).code(), absl::StatusCode::kCancelled);
}

// A thread may look while the flag is set, and end early; the caller looks later.
TEST(WorkMeterTest, StaysOver) {
  std::atomic<bool> cancelled(true);
  WorkLimits limits;
  limits.cancelled = &cancelled;
  WorkMeter meter(limits);
  EXPECT_TRUE(meter.IsOver());
  cancelled = false;
  EXPECT_EQ(meter.Check().code(), absl::StatusCode::kCancelled);

  int looks = 0;
  limits.is_cancelled = [&looks] { return ++looks == 3; };
  WorkMeter other(limits);
  EXPECT_TRUE(other.Check().ok());
  EXPECT_TRUE(other.Check().ok());
  EXPECT_FALSE(other.Check().ok());
  EXPECT_FALSE(other.Check().ok());
  EXPECT_EQ(looks, 3);
}

TEST(WorkMeterTest, EndsForAll) {
  WorkMeter meter;
  meter.End();
  EXPECT_TRUE(meter.IsOver());
  EXPECT_EQ(meter.Check().code(), absl::StatusCode::kCancelled);
}

TEST(WorkMeterTest, OtherWordsKeepTheKind) {
  const absl::Status error = WithLimitKind(absl::ResourceExhaustedError("full"), LimitKind::kMemory);
  const absl::Status other = WithMessage(error, "device 3: full");
  EXPECT_EQ(other.code(), error.code());
  EXPECT_EQ(other.message(), "device 3: full");
  EXPECT_EQ(LimitKindOf(other), LimitKind::kMemory);
  EXPECT_EQ(LimitKindOf(absl::OkStatus()), LimitKind::kNone);
}

}  // namespace
}  // namespace kashi::base
