// Compares Execute with ExecuteByIndex, and that with brute force, for as many relayouts as a test has time for: small
// ones systematically, all kinds at random.
//
//   small scope    every size from {1,2,3,7,8,9} and every permutation up to rank 4, up to the names of the
//                  dimensions, which are drawn at random
//                  (so the source's order is the same for all until they are drawn)
//                  every pair of tile lists, with all of these up to rank 2, with a share of them beyond
//                  element sizes and packings, padding, alignment, L and M: dealt, so that each comes up equally often
//                  all of it for every target that Highway has functions for on this machine
//
// KASHI_TEST_SCOPE=full takes every pair of tile lists at rank 3, many more at rank 4, and runs for minutes.
// A failure is reduced to a smaller one, and printed as one line with all its facts.
#include "kashi/relayout/simd/highway_targets.h"  // before Highway

#include <hwy/highway.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/base/sanitizers_testing.h"
#include "kashi/relayout/relayout_plan.h"
#include "kashi/relayout/relayout_trial_testing.h"

namespace kashi::relayout {
namespace {

using namespace relayout_testing;  // NOLINT(build/namespaces)

bool IsFullScope() {
  const char* const scope = std::getenv("KASHI_TEST_SCOPE");
  return scope != nullptr && std::strcmp(scope, "full") == 0;
}

// ---------------------------------------------------------------------------------------------------- targets of
// Highway

// Plans that are made while this lives have the functions of one target.
class WithTarget {
 public:
  explicit WithTarget(int64_t target) { hwy::SetSupportedTargetsForTest(target); }
  ~WithTarget() { hwy::SetSupportedTargetsForTest(0); }
  WithTarget(const WithTarget&) = delete;
  WithTarget& operator=(const WithTarget&) = delete;
};

// ------------------------------------------------------------------------------------------------------ running trials

const Trial* running_trial = nullptr;

// Names the trial that touched memory it must not.
void OnFault(int signal_number) {
  if (running_trial != nullptr)
    std::fprintf(stderr, "signal %d in %s\n", signal_number, ToString(*running_trial).c_str());
  std::signal(signal_number, SIG_DFL);
  std::raise(signal_number);
}

class RelayoutTrialTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::signal(SIGSEGV, OnFault);
    std::signal(SIGBUS, OnFault);
  }
  static void TearDownTestSuite() {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
  }

  using Check = absl::FunctionRef<std::string(const Trial& trial)>;  // a text about the error, or ""

  // False once there have been enough failures.
  static bool Expect(const Trial& trial, const std::string& where, Check check) {
    running_trial = &trial;
    std::string wrong = check(trial);
    running_trial = nullptr;
    if (ABSL_PREDICT_TRUE(wrong.empty())) return true;
    const Trial small = Shrink(trial, [&](const Trial& smaller) { return !check(smaller).empty(); });
    ADD_FAILURE() << ToString(small) << where << "\n" << check(small) << "\nfirst seen as " << ToString(trial);
    constexpr int kEnoughFailures = 5;
    return ++failures_ < kEnoughFailures;
  }

 private:
  static int failures_;
};
int RelayoutTrialTest::failures_ = 0;

using RelayoutExhaustiveTest = RelayoutTrialTest;
using RelayoutRandomTest = RelayoutTrialTest;

// ---------------------------------------------------------------------------------------------------------- small
// scope

// Deals each of 0 .. size - 1 once, in random order, again and again.
class Deck {
 public:
  explicit Deck(int64_t size) : cards_(size), next_(size) { std::iota(cards_.begin(), cards_.end(), 0); }
  int64_t Deal(std::mt19937* random) {
    if (next_ == cards_.size()) {
      std::shuffle(cards_.begin(), cards_.end(), *random);
      next_ = 0;
    }
    return cards_[next_++];
  }

 private:
  Index cards_;
  size_t next_;
};

// A type, and E on both sides (0: none).
struct Form {
  PrimitiveType type;
  int64_t from_bits;
  int64_t to_bits;
};

// Half of them are whole bytes.
constexpr Form kForms[] = {
    {U8, 0, 0},       {S8, 0, 0},       {BF16, 0, 0}, {F16, 0, 0},      {F32, 0, 0},  {S32, 0, 0}, {F64, 0, 0},
    {C64, 0, 0},      {C128, 0, 0},     {PRED, 0, 0}, {U16, 0, 0},      {F32, 0, 32}, {S8, 16, 8}, {S8, 0, 32},
    {U16, 16, 64},    {F8E4M3FN, 8, 0}, {S4, 4, 4},   {U4, 4, 4},       {S4, 4, 0},   {S4, 0, 4},  {U2, 2, 2},
    {S2, 2, 0},       {U2, 0, 2},       {U1, 1, 1},   {S1, 1, 0},       {U1, 0, 1},   {S2, 2, 4},  {U2, 4, 2},
    {F4E2M1FN, 4, 4}, {U1, 1, 4},       {S4, 8, 4},   {F6E2M3FN, 0, 8},
};

class SmallScope {
 public:
  explicit SmallScope(uint32_t seed) : random_(seed) {}

  // The next pair of tile lists and a deal of all the rest. `permutation`: the target's dimensions, minor to major,
  // where the source's are 0, 1, …
  Trial Next(const Index& sizes, const Index& permutation) {
    const int64_t pair = pairs_.Deal(&random_);
    const Form& form = kForms[forms_.Deal(&random_)];
    Index names(sizes.size());
    std::iota(names.begin(), names.end(), 0);
    std::shuffle(names.begin(), names.end(), random_);
    Index named_sizes(sizes.size()), order(sizes.size());
    for (size_t d = 0; d < sizes.size(); ++d) {
      named_sizes[names[d]] = sizes[d];
      order[d] = names[permutation[d]];
    }
    Trial trial;
    trial.from.shape = MakeShape(form.type, named_sizes, names, UsualTileLists()[pair / kTileLists], form.from_bits,
                                 kTails[tails_.Deal(&random_)], kPrefixes[prefixes_.Deal(&random_)]);
    trial.to.shape = MakeShape(form.type, named_sizes, order, UsualTileLists()[pair % kTileLists], form.to_bits,
                               kTails[tails_.Deal(&random_)], kPrefixes[prefixes_.Deal(&random_)]);
    trial.options.threads = 1;
    trial.options.non_temporal_stores = random_() % 2 == 1;
    trial.options.padding = DrawPadding([&](int64_t low, int64_t high) { return Deal(low, high); }, trial.to);
    trial.from_shift = kShifts[shifts_.Deal(&random_)];
    trial.to_shift = kShifts[shifts_.Deal(&random_)];
    return trial;
  }

  static int64_t PairCount() { return kTileLists * kTileLists; }

 private:
  int64_t Deal(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

  static constexpr int64_t kTails[] = {1, 1, 1, 1, 1, 1, 1, 3, 8, 100};
  static constexpr int64_t kPrefixes[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 8, 64};
  static constexpr int64_t kShifts[] = {0, 0, 1, 4, 16, 63, kAtEnd, kAtEnd, kAtEnd};
  static const int64_t kTileLists;

  std::mt19937 random_;
  Deck pairs_{kTileLists * kTileLists};
  Deck forms_{std::size(kForms)};
  Deck tails_{std::size(kTails)};
  Deck prefixes_{std::size(kPrefixes)};
  Deck shifts_{std::size(kShifts)};
};
const int64_t SmallScope::kTileLists = UsualTileLists().size();

// Every list of sizes of this rank, with every permutation.
template <typename F>
bool ForEachSmallArray(int rank, F visit) {
  constexpr int64_t kSizes[] = {1, 2, 3, 7, 8, 9};
  const Index radix(rank, std::size(kSizes));
  Index digits(rank, 0), sizes(rank);
  for (int64_t i = array::index_map_oracle::Product(radix); i > 0; --i, array::index_map_oracle::Bump(radix, &digits)) {
    for (int d = 0; d < rank; ++d) sizes[d] = kSizes[digits[d]];
    Index permutation(rank);
    std::iota(permutation.begin(), permutation.end(), 0);
    do {
      if (!visit(sizes, permutation)) return false;
    } while (std::next_permutation(permutation.begin(), permutation.end()));
  }
  return true;
}

TEST_F(RelayoutExhaustiveTest, SmallScopeEqualsTheIndexLoopOnAllTargets) {
  constexpr int64_t kMostBytes = 1 << 20;  // tiles of 1024 elements around each of few
  Runner runner(kMostBytes);
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  ASSERT_FALSE(targets.empty());
  const bool is_full = IsFullScope();
  const int64_t all = SmallScope::PairCount(), count = targets.size();
  const int64_t few = is_full ? all : all / base::kShare;
  const int64_t pairs_of_rank[] = {few, few, few, is_full ? all : 24 / count / base::kShare + 1, is_full ? 16 : 1};
  int64_t run = 0, skipped = 0;
  for (int64_t share = 0; share < count; ++share) {
    const int64_t target = targets[share];
    const WithTarget with_target(target);
    const std::string where = absl::StrCat(", Highway target ", hwy::TargetName(target));
    SmallScope scope(static_cast<uint32_t>(20261122 + target));
    const auto check = [&](const Trial& trial) { return runner.Fits(trial) ? runner.Run(trial) : ""; };
    for (int rank = 0; rank <= 4; ++rank) {
      int64_t turn = 0;  // at rank 4 the targets take turns in the default scope
      const bool go_on = ForEachSmallArray(rank, [&](const Index& sizes, const Index& permutation) {
        if (rank == 4 && !is_full && turn++ % (count * base::kShare) != share) return true;
        for (int64_t i = 0; i < pairs_of_rank[rank]; ++i) {
          const Trial trial = scope.Next(sizes, permutation);
          const bool fits = runner.Fits(trial);
          skipped += !fits;
          run += fits;
          if (fits && !Expect(trial, where, check)) return false;
        }
        return true;
      });
      if (!go_on) return;
    }
  }
  RecordProperty("relayouts", std::to_string(run));
  EXPECT_LT(skipped, run / 10) << "too many arrays are too large";
}

// ---------------------------------------------------------------------------------------------------------------
// random

class RandomPick {
 public:
  explicit RandomPick(uint64_t seed) : random_(seed) {}
  int64_t operator()(int64_t low, int64_t high) const {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

 private:
  mutable std::mt19937_64 random_;
};

// The index loop itself. Conversions have a test of their own, element by element.
TEST_F(RelayoutRandomTest, IndexLoopEqualsBruteForce) {
  const RandomPick pick(1);
  Runner runner(1 << 18);
  TrialLimits limits;
  limits.max_rank = 4;
  limits.max_size = 12;
  limits.max_elements = 300;
  const int64_t count = IsFullScope() ? 100000 : 3000 / base::kShare;
  const auto check = [&](const Trial& trial) {
    return runner.Fits(trial) ? runner.RunBruteForce(trial, [](absl::uint128 value) { return value; }) : "";
  };
  for (int64_t i = 0; i < count; ++i) {
    Trial trial = DrawTrial(pick, limits);
    if (trial.from.shape.element_type() != trial.to.shape.element_type()) continue;
    if (!Expect(trial, " (the index loop)", check)) return;
  }
}

// Slices, strides, conversions, all types: everything that DrawTrial can think of.
TEST_F(RelayoutRandomTest, SmallArraysEqualTheIndexLoop) {
  const RandomPick pick(2);
  Runner runner(1 << 21);
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const int64_t count = (IsFullScope() ? 1000000 : 20000 / base::kShare) / targets.size();
  for (const int64_t target : targets) {
    const WithTarget with_target(target);
    const std::string where = absl::StrCat(", Highway target ", hwy::TargetName(target));
    const auto check = [&](const Trial& trial) { return runner.Fits(trial) ? runner.Run(trial) : ""; };
    for (int64_t i = 0; i < count; ++i) {
      if (!Expect(DrawTrial(pick, TrialLimits()), where, check)) return;
    }
  }
}

// Eight rows in a word on one side; anything on the other.
Trial DrawTrialOfWords(Pick pick, const TrialLimits& limits) {
  static const auto& words =
      *new std::vector<TileList>{{{8, 128}, {8, 1}}, {{64, 128}, {8, 1}}, {{1024}, {128}, {8, 1}},
                                 {{8, 37}, {8, 1}},  {{16, 72}, {8, 1}},  {{80}, {10}, {8, 1}}};
  static const auto& types = *new std::vector<PrimitiveType>{S4, U4, F4E2M1FN, U2};
  Trial trial;
  const Index sizes = DrawSizes(pick, limits);
  const PrimitiveType type = PickOf(pick, types);
  trial.from = DrawSide(pick, type, sizes, /*is_source=*/true, limits);
  trial.to = DrawSide(pick, type, sizes, /*is_source=*/false, limits);
  Side& side = pick(0, 1) == 0 ? trial.from : trial.to;
  side.byte_strides.reset();
  Index minor_to_major(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) minor_to_major[d] = sizes.size() - 1 - d;
  const Index whole(side.shape.dimensions().begin(), side.shape.dimensions().end());
  side.shape = MakeShape(type, whole, minor_to_major, PickOf(pick, words), 4);
  trial.options.padding = DrawPadding(pick, trial.to);
  trial.options.threads = static_cast<int>(pick(0, 2));
  trial.options.non_temporal_stores = pick(0, 1) == 1;
  trial.from_shift = DrawShift(pick);
  trial.to_shift = DrawShift(pick);
  return trial;
}

TEST_F(RelayoutRandomTest, WordsOfEightRowsEqualTheIndexLoop) {
  const RandomPick pick(4);
  Runner runner(int64_t{4} << 20);
  TrialLimits limits;
  limits.max_rank = 3;
  limits.max_size = 700;
  limits.max_elements = 60000;
  const std::vector<int64_t> targets = hwy::SupportedAndGeneratedTargets();
  const int64_t count = (IsFullScope() ? 100000 : 3000 / base::kShare) / targets.size();
  for (const int64_t target : targets) {
    const WithTarget with_target(target);
    const std::string where = absl::StrCat(", Highway target ", hwy::TargetName(target));
    const auto check = [&](const Trial& trial) { return runner.Fits(trial) ? runner.Run(trial) : ""; };
    for (int64_t i = 0; i < count; ++i) {
      if (!Expect(DrawTrialOfWords(pick, limits), where, check)) return;
    }
  }
}

// Blocks, threads, and other things that depend on size.
TEST_F(RelayoutRandomTest, LargeArraysEqualTheIndexLoop) {
  const RandomPick pick(3);
  Runner runner(int64_t{64} << 20);
  TrialLimits limits;
  limits.max_rank = 6;
  limits.max_size = 3000;
  limits.max_tile = 300;
  limits.min_elements = 50000;
  limits.max_elements = 400000;
  const int64_t count = IsFullScope() ? 2000 : 60 / base::kShare;
  const auto check = [&](const Trial& trial) { return runner.Fits(trial) ? runner.Run(trial) : ""; };
  for (int64_t i = 0; i < count; ++i) {
    Trial trial = DrawTrial(pick, limits);
    if (!Expect(trial, "", check)) return;
  }
}

}  // namespace
}  // namespace kashi::relayout
