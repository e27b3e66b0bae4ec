// Plans with few interleaved rows, and plans with ragged rows in strips, compared with the index loop.
#include "kashi/relayout/plan/strips.h"

#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using relayout_testing::DrawPadding;
using relayout_testing::DrawShift;
using relayout_testing::Index;
using relayout_testing::MakeShape;
using relayout_testing::PickOf;
using relayout_testing::Runner;
using relayout_testing::TileList;
using relayout_testing::Trial;
using ::testing::HasSubstr;
using ::testing::Not;

class RandomPick {
 public:
  int64_t operator()(int64_t low, int64_t high) const {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  mutable std::mt19937_64 random_{20261122};
};

std::string PlanOf(PrimitiveType type, const Index& sizes, const TileList& from, const TileList& to) {
  RelayoutOptions options;
  options.non_temporal_stores = true;
  const Index order = {2, 1, 0};
  return RelayoutPlan::Make(MakeShape(type, sizes, order, from), MakeShape(type, sizes, order, to), options)
      ->ToString();
}

TEST(Strips, OfRaggedRowsOnly) {
  const TileList pairs = {{8, 128}, {2, 1}};
  const std::string ragged = PlanOf(BF16, {3, 97, 300}, pairs, {});
  EXPECT_THAT(ragged, HasSubstr("36 strips of 4,800 bytes"));
  EXPECT_THAT(ragged, HasSubstr("in each strip interleave of 2 rows x 128 columns"));
  EXPECT_THAT(ragged, HasSubstr("in each strip interleave of 2 rows x 44 columns"));
  EXPECT_THAT(PlanOf(BF16, {3, 97, 256}, pairs, {}), Not(HasSubstr("strips")));  // rows are whole lines
  EXPECT_THAT(PlanOf(BF16, {3, 97, 300}, {}, pairs), Not(HasSubstr("strips")));
  EXPECT_THAT(PlanOf(F32, {3, 97, 300}, {{8, 128}}, {}), Not(HasSubstr("strips")));  // rows are long runs
}

// Runs a trial; returns a text about the error, or "".
std::string RunWithOptions(const RandomPick& pick, Runner* runner, Trial trial) {
  trial.options.non_temporal_stores = pick(0, 3) > 0;
  trial.options.threads = static_cast<int>(pick(0, 2));
  trial.options.padding = DrawPadding(pick, trial.to);
  trial.from_shift = DrawShift(pick);
  trial.to_shift = DrawShift(pick);
  return runner->Fits(trial) ? runner->Run(trial) : "";
}

const std::vector<PrimitiveType>& Types() {
  static const auto& types = *new std::vector<PrimitiveType>{U8, BF16, F32, F64, C128};
  return types;
}

// [n, rows, columns] to [n, columns, rows], and back.
TEST(Interleave, TransposesOfFewRowsEqualTheIndexLoop) {
  const RandomPick pick;
  Runner runner(1 << 20);
  for (int i = 0; i < 3000 / base::kShare; ++i) {
    const Index sizes = {pick(1, 5), pick(2, 9), pick(0, 9) == 0 ? pick(500, 3000) : pick(16, 400)};
    const PrimitiveType type = PickOf(pick, Types());
    Trial trial;
    trial.from.shape = MakeShape(type, sizes, {2, 1, 0}, {});
    trial.to.shape = MakeShape(type, sizes, {1, 2, 0}, {});
    if (pick(0, 1) == 1) std::swap(trial.from, trial.to);
    ASSERT_EQ(RunWithOptions(pick, &runner, trial), "") << ToString(trial);
  }
}

// Kernels read no less than a vector.
TEST(Interleave, EachChunkHasALineOfColumns) {
  PlanChoice choice;
  choice.streams = true;
  const auto context = std::make_shared<PlanContext>(ElementForm{U8, 8}, ElementForm{U8, 8}, CacheModel(), choice);
  for (const int64_t rows : {2, 7, 8}) {
    for (int64_t columns = 64; columns < 60000; columns += columns < 20000 ? 1 : 77) {
      const Box rows_to_run = {0, 0, {{columns, 8, rows * 8}, {rows, columns * 8, 8}}};
      const Step step = MakeStep(context, rows_to_run);
      const Axis& axis = step.grid.columns;
      ASSERT_TRUE(std::holds_alternative<InterleavePlan>(step.kernel));
      ASSERT_GE(axis.BlockAt(axis.chunk_count() - 1), 64) << rows << " x " << columns;
      ASSERT_GT(axis.BlockAt(0), 0);
    }
  }
}

// Tiles that keep rows together, on either side.
TEST(Interleave, TilesOfFewRowsEqualTheIndexLoop) {
  const std::vector<TileList> tilings = {{{8, 128}, {2, 1}}, {{8, 128}, {4, 1}}, {{4, 128}, {2, 1}},
                                         {{32, 64}, {4, 1}}, {{6, 100}, {3, 1}}, {{256}, {128}, {2, 1}}};
  const RandomPick pick;
  Runner runner(4 << 20);
  for (int i = 0; i < 2000 / base::kShare; ++i) {
    const Index sizes = {pick(1, 4), pick(1, 40), pick(0, 1) == 0 ? 64 * pick(1, 10) : pick(1, 700)};
    const PrimitiveType type = PickOf(pick, Types());
    Trial trial;
    trial.from.shape = MakeShape(type, sizes, {2, 1, 0}, {});
    trial.to.shape = MakeShape(type, sizes, {2, 1, 0}, PickOf(pick, tilings));
    if (pick(0, 2) > 0) std::swap(trial.from, trial.to);
    ASSERT_EQ(RunWithOptions(pick, &runner, trial), "") << ToString(trial);
  }
}

}  // namespace
}  // namespace kashi::relayout
