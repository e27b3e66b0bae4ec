// The route and the kernels that the planner chooses, one row for each problem.
#include "kashi/relayout/plan/planner.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"

namespace kashi::relayout {
namespace {

using testing::HasSubstr;

RelayoutTask TaskOf(const char* from, const char* to) {
  RelayoutTask task = {
      Placement::OfLayout(ParseShape(from).value()).value(), Placement::OfLayout(ParseShape(to).value()).value(), {}};
  task.options.caches = CacheModel();
  task.options.convert = true;
  return task;
}

TEST(PlannerTest, ChoosesTheRouteOfLeastCost) {
  const struct {
    const char* from;
    const char* to;
    Route route;
    bool streams;
    const char* kernel;  // somewhere in the text
  } kCases[] = {
      {"f32[100,100]", "f32[100,100]{0,1}", Route::kBoxes, false, "blocks of"},
      {"f32[8000,8000]", "f32[8000,8000]{0,1}", Route::kBoxes, true, "line by line"},
      {"f32[8000,8000]", "f32[8000,8000]{1,0:T(8,128)}", Route::kBoxes, true, "rows of"},
      {"u8[3,1000]", "u8[3,1000]{0,1}", Route::kBoxes, false, "interleave of 3 rows"},
      {"s8[100]", "f32[100]", Route::kBoxes, false, "convert of 100"},
      {"s8[100,9]", "f32[100,9]{0,1}", Route::kBoxes, false, "convert blocks of"},
      {"bf16[20,30,3]", "bf16[20,30,3]{0,2,1:T(4,128)(2,1)}", Route::kGroups, false, "groups of 6 as 8 bytes"},
      {"bf16[3,1000]", "bf16[3,1000]{1,0:T(8,128)(2,1)}", Route::kTailsFilled, false, "tails of"},
      {"bf16[3,1000]{1,0:T(8,128)(2,1)}", "bf16[3,1000]", Route::kTailsRead, false, "tails of"},
      {"bf16[3000,98,300]{2,1,0:T(8,128)(2,1)}", "bf16[3000,98,300]", Route::kStrips, true, "in each strip interleave"},
  };
  for (const auto& c : kCases) {
    const MovePlan plan = MakeMovePlan(TaskOf(c.from, c.to));
    SCOPED_TRACE(plan.ToString());
    EXPECT_EQ(plan.choice.route, c.route);
    EXPECT_EQ(plan.choice.streams, c.streams);
    EXPECT_THAT(plan.ToString(), HasSubstr(c.kernel));
  }
}

TEST(PlannerTest, APlanOfARouteThatLeadsNowhereIsNone) {
  const RelayoutTask task = TaskOf("f32[100,100]", "f32[100,100]{0,1}");
  for (Route route : {Route::kGroups, Route::kTailsFilled, Route::kTailsRead, Route::kStrips}) {
    PlanChoice choice;
    choice.route = route;
    EXPECT_FALSE(MakeMovePlan(task, choice).has_value());
  }
  EXPECT_TRUE(MakeMovePlan(task, PlanChoice()).has_value());
}

TEST(PlannerTest, AKernelThatIsSkippedGivesWayToTheNext) {
  PlanChoice choice;
  choice.skipped_kernels = ~0u;
  const auto plan = MakeMovePlan(TaskOf("f32[100,100]", "f32[100,100]{0,1}"), choice);
  ASSERT_TRUE(plan.has_value());
  EXPECT_THAT(plan->ToString(), HasSubstr("elements: 64 x 64"));
}

// Caches decide where non-temporal stores begin.
TEST(PlannerTest, StreamsWhatIsLargerThanTheLargestCache) {
  RelayoutTask task = TaskOf("f32[2048,2048]", "f32[2048,2048]{0,1}");
  EXPECT_FALSE(StreamsTarget(task));
  task.options.caches->last_bytes = (32 << 20) - 1;
  EXPECT_TRUE(StreamsTarget(task));
  task.options.non_temporal_stores = false;
  EXPECT_FALSE(StreamsTarget(task));
}

}  // namespace
}  // namespace kashi::relayout
