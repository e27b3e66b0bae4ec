#include "kashi/relayout/plan/step.h"

#include <memory>
#include <random>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/relayout/nests/digits.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using relayout_testing::Trial;

SharedContext ContextOf(const Placement& from, const Placement& to, bool streams) {
  PlanChoice choice;
  choice.streams = streams;
  return std::make_shared<PlanContext>(ElementForm{from.element_type(), from.slot_bits()},
                                       ElementForm{to.element_type(), to.slot_bits()}, CacheModel(), choice);
}

// Bytes that one element of the grid stands for; 0: one element, which changes its form.
struct BytesOfElement {
  int64_t operator()(const RowsPlan&) const { return 1; }
  int64_t operator()(const ExchangePlan& plan) const {
    return plan.element_bytes * plan.sources.extent * plan.targets.extent;
  }
  int64_t operator()(const ConvertPlan&) const { return 0; }
  int64_t operator()(const ConvertBlocksPlan&) const { return 0; }
  template <class Plan>
  int64_t operator()(const Plan& plan) const {
    return plan.element_bytes;
  }
};

int64_t ElementsOfTasks(const TaskGrid& grid) {
  int64_t count = 1;
  for (const GridLoop& loop : grid.loops) {
    if (loop.over == GridLoop::Over::kOuter) count *= loop.count;
  }
  for (const Axis* axis : {&grid.rows, &grid.columns}) {
    int64_t of_axis = 0;
    for (int64_t chunk = 0; chunk < axis->chunk_count(); ++chunk) of_axis += axis->BlockAt(chunk);
    count *= of_axis;
  }
  return count;
}

// For any kernel, its tasks together have all of the box: sizes large enough for axes of several loops and chunks.
TEST(StepTest, TasksHaveAllOfTheBox) {
  std::mt19937_64 random(20261123);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  relayout_testing::TrialLimits limits;
  limits.max_size = 700;
  limits.max_elements = 10'000'000;
  int steps = 0;
  for (int i = 0; i < 3000; ++i) {
    const Trial trial = DrawTrial(pick, limits);
    const auto from = relayout_testing::PlacementOf(trial.from), to = relayout_testing::PlacementOf(trial.to);
    if (!from.ok() || !to.ok()) continue;
    const auto from_digits = DigitsOf(*from), to_digits = DigitsOf(*to);
    if (!from_digits.ok() || !to_digits.ok()) continue;
    const auto boxes = BoxesOf(*from_digits, *to_digits);
    if (!boxes.ok()) continue;
    for (const bool streams : {false, true}) {
      const SharedContext context = ContextOf(*from, *to, streams);
      for (const Box& box : *boxes) {
        const Step step = MakeStep(context, box);
        ++steps;
        const int64_t bytes = std::visit(BytesOfElement(), step.kernel);
        const int64_t moved = ElementsOfTasks(step.grid) * (bytes > 0 ? 8 * bytes : 1);
        ASSERT_EQ(moved, box.ElementCount() * (bytes > 0 ? to->slot_bits() : 1)) << ToString(trial) << "\n"
                                                                                 << box.ToString() << "\n"
                                                                                 << step.ToString();
      }
    }
  }
  EXPECT_GT(steps, 3000);
}

// The first kernel that takes a box is the one that costs least, but for kernels that are skipped to see the others.
TEST(StepTest, TheTableIsInTheOrderOfCosts) {
  double before = 0;
  for (const KernelRow& row : KernelTable()) {
    const bool is_last = &row == &KernelTable().back();
    EXPECT_GE(is_last ? 16 : row.cost, (row.boxes & (kBytes | kGroups)) != 0 ? before : 0) << row.name;
    if ((row.boxes & kBytes) != 0) before = row.cost;
  }
}

// Tasks that different threads may run write no byte in common. Ones are written over zeros.
TEST(StepTest, TasksOfSeveralThreadsShareNoBytes) {
  std::mt19937_64 random(20261124);
  const auto pick = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  constexpr PrimitiveType kTypes[] = {S4, U4, U2, S1};
  relayout_testing::TrialLimits limits;
  limits.max_rank = 4;
  limits.max_size = 60;
  int steps = 0, shared = 0;
  for (int i = 0; i < 2000; ++i) {
    const PrimitiveType type = kTypes[pick(0, 3)];
    const auto sizes = DrawSizes(pick, limits);
    const auto from = relayout_testing::PlacementOf(DrawSide(pick, type, sizes, /*is_source=*/true, limits));
    const auto to = relayout_testing::PlacementOf(DrawSide(pick, type, sizes, /*is_source=*/false, limits));
    if (!from.ok() || !to.ok() || !from->has_layout() || !to->has_layout()) continue;
    const auto from_digits = DigitsOf(*from), to_digits = DigitsOf(*to);
    if (!from_digits.ok() || !to_digits.ok()) continue;
    const auto boxes = BoxesOf(*from_digits, *to_digits);
    if (!boxes.ok()) continue;
    const SharedContext context = ContextOf(*from, *to, /*streams=*/false);
    const std::vector<char> source(from->map().byte_size(), '\xff');
    for (const Box& box : *boxes) {
      const Step step = MakeStep(context, box);
      const int64_t together = step.grid.tasks_together;
      ++steps;
      shared += together > 1;
      ASSERT_EQ(step.TaskCount() % together, 0);
      std::vector<bool> is_written(to->map().byte_size());
      for (int64_t task = 0; task < step.TaskCount(); task += together) {
        std::vector<char> target(is_written.size());
        RunStep(step, source.data(), target.data(), task, task + together);
        for (size_t at = 0; at < target.size(); ++at) {
          if (target[at] == 0) continue;
          ASSERT_FALSE(is_written[at]) << "byte " << at << ", task " << task << "\n"
                                       << from->ToString() << " -> " << to->ToString() << "\n"
                                       << box.ToString() << "\n"
                                       << step.ToString();
          is_written[at] = true;
        }
      }
    }
  }
  EXPECT_GT(steps, 1000);
  EXPECT_GT(shared, 50);
}

}  // namespace
}  // namespace kashi::relayout
