#include "kashi/relayout/transpose_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/hash/hash_testing.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/base/math.h"
#include "kashi/base/util.h"
#include "kashi/relayout/simd/ef57.h"

namespace kashi::relayout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Numbers = std::vector<int64_t>;
using Options = TransposePlan::Options;
using Tiling = TransposePlan::Tiling;
using Striding = TransposePlan::Striding;

// Options that own their lists.
struct Problem {
  size_t bytes = 4;
  Numbers dims;
  Numbers permutation;
  Numbers input_tiling;
  Numbers output_tiling;
  std::optional<Numbers> strides;
  int threads = 1;
  TransposePlan::Transformation transformation = TransposePlan::Transformation::kNone;

  Options options() const {
    Options options;
    options.elem_size_in_bytes = bytes;
    options.dims = dims;
    options.permutation = permutation;
    if (strides) {
      options.input_layout = Striding{*strides};
    } else {
      options.input_layout = Tiling{input_tiling};
    }
    options.output_tiling = Tiling{output_tiling};
    options.transformation = transformation;
    options.num_threads = threads;
    return options;
  }
  std::string ToString() const {
    return absl::StrCat("bytes ", bytes, " dims ", absl::StrJoin(dims, ","), " permutation ",
                        absl::StrJoin(permutation, ","), " tiles ", absl::StrJoin(input_tiling, ","), " to ",
                        absl::StrJoin(output_tiling, ","), " threads ", threads,
                        strides ? absl::StrCat(" strides ", absl::StrJoin(*strides, ",")) : "");
  }
};

Problem Transposition(Numbers dims, Numbers permutation) {
  Problem problem;
  problem.dims = std::move(dims);
  problem.permutation = std::move(permutation);
  return problem;
}

// The obvious formula: the row-major number of the tile, then that within the tile.
int64_t Position(const Numbers& index, const Numbers& dims, const Numbers& tiling) {
  int64_t tile_number = 0, within = 0, tile_elements = 1;
  const size_t untiled = dims.size() - tiling.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t tile = i < untiled ? 1 : tiling[i - untiled];
    tile_number = tile_number * CeilOfRatio(dims[i], tile) + index[i] / tile;
    within = within * tile + index[i] % tile;
    tile_elements *= tile;
  }
  return tile_number * tile_elements + within;
}

// Every index in row-major order.
void ForEachIndex(const Numbers& dims, const std::function<void(const Numbers&)>& visit) {
  if (Product(dims) == 0) return;
  Numbers index(dims.size(), 0);
  while (true) {
    visit(index);
    size_t i = dims.size();
    while (i > 0 && ++index[i - 1] == dims[i - 1]) index[--i] = 0;
    if (i == 0) return;
  }
}

// A buffer for the input, and where its first element is.
struct Input {
  explicit Input(const Problem& problem, const TransposePlan& plan) {
    int64_t end = plan.InputNumElems() * static_cast<int64_t>(problem.bytes);
    if (problem.strides) {
      end = static_cast<int64_t>(problem.bytes);
      for (size_t i = 0; i < problem.dims.size(); ++i) {
        const int64_t reach = (*problem.strides)[i] * std::max<int64_t>(problem.dims[i] - 1, 0);
        (reach < 0 ? origin : end) += std::abs(reach);
      }
    }
    buffer.resize(origin + end);
    uint32_t state = 1;
    for (char& byte : buffer) byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  }
  const char* data() const { return buffer.data() + origin; }

  int64_t origin = 0;
  std::vector<char> buffer;
};

int64_t InputOffset(const Problem& problem, const Numbers& index) {
  if (!problem.strides)
    return Position(index, problem.dims, problem.input_tiling) * static_cast<int64_t>(problem.bytes);
  return std::inner_product(index.begin(), index.end(), problem.strides->begin(), int64_t{0});
}

// The element at `index` of the input, transformed.
std::string Element(const Problem& problem, const char* input, Numbers index) {
  if (problem.transformation == TransposePlan::Transformation::kNone) {
    return std::string(input + InputOffset(problem, index), problem.bytes);
  }
  const int64_t half = index.back() % 2;
  index.back() -= half;
  char pair[8];
  relayout::ConvertF64ToEf57(input + InputOffset(problem, index), pair, 1);
  return std::string(pair + 4 * half, 4);
}

// The expected contents of the output, padding untouched.
std::string Expected(const Problem& problem, const char* input, std::string output) {
  Numbers output_dims;
  for (int64_t dimension : problem.permutation) output_dims.push_back(problem.dims[dimension]);
  ForEachIndex(problem.dims, [&](const Numbers& index) {
    Numbers output_index;
    for (int64_t dimension : problem.permutation) output_index.push_back(index[dimension]);
    const int64_t position = Position(output_index, output_dims, problem.output_tiling);
    output.replace(position * problem.bytes, problem.bytes, Element(problem, input, index));
  });
  return output;
}

// Threads, one a task.
class Scheduler {
 public:
  ~Scheduler() {
    for (std::thread& thread : threads_) thread.join();
  }
  void operator()(std::function<void()> task) { threads_.emplace_back(std::move(task)); }
  size_t task_count() const { return threads_.size(); }

 private:
  std::vector<std::thread> threads_;
};

void Check(const Problem& problem) {
  SCOPED_TRACE(problem.ToString());
  const auto plan = TransposePlan::Create(problem.options());
  ASSERT_TRUE(plan.ok()) << plan.status();
  const Input input(problem, **plan);
  const std::string empty((*plan)->OutputNumElems() * problem.bytes, 'x');
  const std::string expected = Expected(problem, input.data(), empty);
  std::string output = empty;
  (*plan)->Execute(input.data(), output.data());
  EXPECT_TRUE(output == expected);
  if (problem.threads == 1) return;
  output = empty;
  Scheduler scheduler;
  (*plan)->Execute(input.data(), output.data(), std::ref(scheduler));
  EXPECT_EQ(scheduler.task_count() + 1, (*plan)->Parallelism());
  EXPECT_TRUE(output == expected);
}

absl::Status Error(const Problem& problem) { return TransposePlan::Create(problem.options()).status(); }

void ExpectError(const Problem& problem, absl::string_view words) {
  EXPECT_EQ(Error(problem).code(), absl::StatusCode::kInvalidArgument) << problem.ToString();
  EXPECT_THAT(std::string(Error(problem).message()), HasSubstr(std::string(words)));
}

TEST(TransposePlanTest, Basics) {
  Problem problem = Transposition({2, 3}, {1, 0});
  const auto plan = TransposePlan::Create(problem.options()).value();
  const int32_t a[] = {1, 2, 3, 4, 5, 6};
  int32_t b[6];
  plan->Execute(a, b);
  EXPECT_THAT(b, ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(plan->ElemSizeInBytes(), 4);
  EXPECT_THAT(plan->InputDims(), ElementsAre(2, 3));
  EXPECT_THAT(plan->OutputDims(), ElementsAre(3, 2));
  EXPECT_THAT(plan->InputStrides(), ElementsAre(12, 4));
  EXPECT_EQ(plan->InputNumElems(), 6);
  EXPECT_EQ(plan->OutputNumElems(), 6);
  EXPECT_EQ(plan->Parallelism(), 1);
  EXPECT_THAT(plan->ToString(), HasSubstr("elem_size=4 a_dims=2,3 b_dims=3,2 permutation=1,0"));
}

// Dimension i of the output is dimension permutation[i] of the input, not the other way round.
TEST(TransposePlanTest, DirectionOfThePermutation) {
  const auto plan = TransposePlan::Create(Transposition({2, 3, 4}, {2, 0, 1}).options()).value();
  EXPECT_THAT(plan->OutputDims(), ElementsAre(4, 2, 3));
}

TEST(TransposePlanTest, RefusesOptionsThatMakeNoSense) {
  ExpectError(Transposition({8, -3}, {0, 1}), "dims must be nonnegative");
  ExpectError(Transposition({8}, {0, 1}), "as many entries as dims");
  ExpectError(Transposition({8, 8}, {0}), "as many entries as dims");
  ExpectError(Transposition({2, 3}, {-1, 0}), "is no permutation");
  ExpectError(Transposition({2, 3}, {2, 0}), "is no permutation");
  ExpectError(Transposition({2, 3}, {1, 1}), "is no permutation");
  ExpectError(Transposition({int64_t{1} << 40, int64_t{1} << 40}, {1, 0}), "");
  Problem problem = Transposition({2, 3}, {1, 0});
  problem.threads = 0;
  ExpectError(problem, "num_threads must be at least 1, got 0");
  for (size_t bytes : {0, 3, 5, 32}) {
    problem = Transposition({2, 3}, {1, 0});
    problem.bytes = bytes;
    ExpectError(problem, "1, 2, 4, 8 or 16");
  }
}

TEST(TransposePlanTest, RefusesTilesAndStridesThatMakeNoSense) {
  Problem problem = Transposition({2, 3}, {1, 0});
  problem.input_tiling = {1, 2, 3};
  ExpectError(problem, "Input tiling (1,2,3) has more entries");
  problem.input_tiling = {2, 0};
  ExpectError(problem, "Input tiling (2,0) has sizes below 1");
  problem.input_tiling = {};
  problem.output_tiling = {8, 8, 128};
  ExpectError(problem, "Output tiling (8,8,128) has more entries");
  problem.output_tiling = {-8};
  ExpectError(problem, "Output tiling (-8) has sizes below 1");
  problem.output_tiling = {int64_t{1} << 40, int64_t{1} << 40};
  ExpectError(problem, "");
  problem.output_tiling = {};
  problem.strides = {{4}};
  ExpectError(problem, "1 strides (4) for 2 dimensions (2,3)");
}

// All ranks to 4, all permutations, all element sizes.
TEST(TransposePlanTest, AllPermutations) {
  for (size_t bytes : {1, 2, 4, 8, 16}) {
    for (const Numbers& dims : {Numbers{}, Numbers{7}, Numbers{1, 5}, Numbers{16, 9}, Numbers{3, 1, 8},
                                Numbers{5, 4, 7}, Numbers{2, 3, 1, 9}, Numbers{4, 2, 5, 3}, Numbers{3, 0, 2}}) {
      Problem problem;
      problem.bytes = bytes;
      problem.dims = dims;
      problem.permutation.resize(dims.size());
      std::iota(problem.permutation.begin(), problem.permutation.end(), 0);
      do Check(problem);
      while (std::next_permutation(problem.permutation.begin(), problem.permutation.end()));
    }
  }
}

const std::vector<Numbers>& Tilings() {
  static const auto& tilings = *new std::vector<Numbers>{{}, {2, 3}, {8, 128}, {3, 1}, {1, 4}, {4}, {2, 2, 2}, {1, 1}};
  return tilings;
}

// Tiles on the way in, on the way out, and both; every size has padding somewhere.
TEST(TransposePlanTest, Tiles) {
  for (size_t bytes : {1, 4, 16}) {
    for (const Numbers& input_tiling : Tilings()) {
      for (const Numbers& output_tiling : Tilings()) {
        Problem problem = Transposition({5, 3, 7}, {0, 1, 2});
        problem.bytes = bytes;
        problem.input_tiling = input_tiling;
        problem.output_tiling = output_tiling;
        do Check(problem);
        while (std::next_permutation(problem.permutation.begin(), problem.permutation.end()));
      }
    }
  }
}

TEST(TransposePlanTest, CountsPaddingOfTiles) {
  Problem problem = Transposition({3, 100, 9}, {0, 2, 1});
  problem.output_tiling = {8, 128};
  auto plan = TransposePlan::Create(problem.options()).value();
  EXPECT_EQ(plan->InputNumElems(), 2700);
  EXPECT_EQ(plan->OutputNumElems(), 3 * 16 * 128);
  problem.output_tiling = {};
  problem.input_tiling = {4, 8};
  plan = TransposePlan::Create(problem.options()).value();
  EXPECT_EQ(plan->InputNumElems(), 3 * 100 * 16);
  EXPECT_EQ(plan->OutputNumElems(), 2700);
}

// Each row takes whole tiles of its own.
TEST(TransposePlanTest, ATilingOfOneEntryPadsEachRow) {
  Problem problem = Transposition({3, 2}, {0, 1});
  problem.input_tiling = {4};
  auto plan = TransposePlan::Create(problem.options()).value();
  EXPECT_EQ(plan->InputNumElems(), 12);
  std::vector<int32_t> a(12), b(6);
  std::iota(a.begin(), a.end(), 0);
  plan->Execute(a.data(), b.data());
  EXPECT_THAT(b, ElementsAre(0, 1, 4, 5, 8, 9));
  problem.input_tiling = {};
  problem.output_tiling = {4};
  plan = TransposePlan::Create(problem.options()).value();
  EXPECT_EQ(plan->OutputNumElems(), 12);
  std::vector<int32_t> padded(12, -1);
  plan->Execute(b.data(), padded.data());
  EXPECT_THAT(padded, ElementsAre(0, 1, -1, -1, 4, 5, -1, -1, 8, 9, -1, -1));
  problem = Transposition({3, 5}, {1, 0});
  problem.input_tiling = {4};
  problem.output_tiling = {128};
  Check(problem);
}

TEST(TransposePlanTest, Strides) {
  Problem problem = Transposition({3, 5, 4}, {2, 0, 1});
  for (const Numbers& strides : {Numbers{80, 16, 4},     // row-major
                                 Numbers{4, 12, 60},     // column-major
                                 Numbers{200, 40, 8},    // gaps
                                 Numbers{-80, 16, -4},   // backwards
                                 Numbers{0, 4, 0},       // one element many times
                                 Numbers{81, 16, 5}}) {  // misaligned
    problem.strides = strides;
    for (const Numbers& output_tiling : {Numbers{}, Numbers{2, 4}}) {
      problem.output_tiling = output_tiling;
      Check(problem);
    }
    const auto plan = TransposePlan::Create(problem.options()).value();
    EXPECT_EQ(plan->InputStrides(), absl::MakeConstSpan(strides));
    EXPECT_EQ(plan->InputNumElems(), 60);
  }
}

// Enough for several tasks; cut in tiles, in rows, and in the most minor dimension.
TEST(TransposePlanTest, Threads) {
  for (int threads : {2, 3, 8}) {
    for (Problem problem : {Transposition({600, 1001}, {1, 0}), Transposition({1001, 600}, {0, 1}),
                            Transposition({2, 3, 100000}, {1, 0, 2}), Transposition({2, 200000}, {0, 1})}) {
      problem.threads = threads;
      for (const Numbers& output_tiling : {Numbers{}, Numbers{8, 128}}) {
        problem.output_tiling = output_tiling;
        Check(problem);
        EXPECT_GT(TransposePlan::Create(problem.options()).value()->Parallelism(), 1);
      }
    }
  }
}

TEST(TransposePlanTest, SmallArraysHaveOneTask) {
  Problem problem = Transposition({60, 100}, {1, 0});
  problem.threads = 8;
  EXPECT_EQ(TransposePlan::Create(problem.options()).value()->Parallelism(), 1);
  Check(problem);
}

Problem Ef57(Numbers dims, Numbers permutation) {
  Problem problem = Transposition(std::move(dims), std::move(permutation));
  problem.transformation = TransposePlan::Transformation::kF64ToEf57;
  return problem;
}

TEST(TransposePlanTest, DoublesToPairsOfFloats) {
  const auto plan = TransposePlan::Create(Ef57({2, 4}, {1, 0}).options()).value();
  const double a[] = {0.5, 16777217.0, 3, 1e300};
  float b[8];
  plan->Execute(a, b);
  EXPECT_THAT(b, ElementsAre(0.5f, 3.0f, 0.0f, 0.0f, 16777216.0f, HUGE_VALF, 1.0f, 0.0f));
}

TEST(TransposePlanTest, Ef57OfAllKinds) {
  for (Problem problem :
       {Ef57({6}, {0}), Ef57({5, 2}, {1, 0}), Ef57({3, 4, 6}, {2, 0, 1}), Ef57({3, 4, 6}, {0, 1, 2}),
        Ef57({3, 0, 6}, {1, 0, 2}), Ef57({70000, 2}, {1, 0}), Ef57({3, 40002}, {1, 0}), Ef57({300, 402}, {1, 0})}) {
    for (int threads : {1, 3}) {
      problem.threads = threads;
      Check(problem);
    }
    if (problem.dims.size() < 2) continue;
    problem.input_tiling = {3, 4};
    problem.output_tiling = {2, 8};
    Check(problem);
  }
  Problem strided = Ef57({3, 4, 6}, {2, 1, 0});
  for (const Numbers& strides : {Numbers{-24, 72, 4}, Numbers{0, 40, 4}, Numbers{24, 72, 4}}) {
    strided.strides = strides;
    Check(strided);
  }
}

TEST(TransposePlanTest, Ef57Errors) {
  Problem problem = Ef57({4, 6}, {1, 0});
  problem.bytes = 8;
  ExpectError(problem, "element size of 4 bytes, got 8");
  ExpectError(Ef57({4, 5}, {1, 0}), "even size");
  ExpectError(Ef57({}, {}), "even size");
  problem = Ef57({4, 6}, {1, 0});
  problem.strides = {{48, 8}};
  ExpectError(problem, "stride 4");
  problem.strides = std::nullopt;
  problem.input_tiling = {2, 3};
  ExpectError(problem, "even last tile size");
}

// The lists that XLA's test subclass sees.
struct Exposed : TransposePlan {
  using TransposePlan::CoalesceDimensions;
  using TransposePlan::Dimensions;
  using TransposePlan::RemoveTrivialDimensions;
};
struct Lists {
  Exposed::Dimensions dims, permutation, lda, lda_tile, a_tiling, b_tiling;
  void RemoveTrivial() { Exposed::RemoveTrivialDimensions(dims, permutation, lda, lda_tile, a_tiling, b_tiling); }
  void Coalesce() { Exposed::CoalesceDimensions(dims, permutation, lda, lda_tile, a_tiling, b_tiling); }
};

TEST(TransposePlanTest, RemovesTrivialDimensions) {
  Lists lists{{1, 6, 1, 7, 1}, {2, 3, 0, 4, 1}, {9, 8, 7, 6, 5}, {4, 3, 2, 1, 0}, {1, 1, 1, 1, 2}, {1, 1, 8, 1, 1}};
  lists.RemoveTrivial();
  EXPECT_THAT(lists.dims, ElementsAre(1, 6, 7, 1));  // the first has a tile in the output, the last in the input
  EXPECT_THAT(lists.permutation, ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(lists.lda, ElementsAre(9, 8, 6, 5));
  EXPECT_THAT(lists.lda_tile, ElementsAre(4, 3, 1, 0));
  EXPECT_THAT(lists.a_tiling, ElementsAre(1, 1, 1, 2));
  EXPECT_THAT(lists.b_tiling, ElementsAre(1, 8, 1, 1));
}

TEST(TransposePlanTest, CoalescesDimensions) {
  Lists lists{{6, 2, 3, 7, 5}, {1, 2, 3, 4, 0}, {840, 420, 140, 20, 4},
              {1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  lists.Coalesce();
  EXPECT_THAT(lists.dims, ElementsAre(6, 210));
  EXPECT_THAT(lists.permutation, ElementsAre(1, 0));
  EXPECT_THAT(lists.lda, ElementsAre(840, 4));
  EXPECT_THAT(lists.lda_tile, ElementsAre(1, 5));
  // A gap in the input after dimension 1; a tile on dimension 3 in the output.
  lists = {{2, 3, 4, 5}, {0, 1, 2, 3}, {240, 80, 20, 4}, {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 8}};
  lists.Coalesce();
  EXPECT_THAT(lists.dims, ElementsAre(24, 5));
  EXPECT_THAT(lists.b_tiling, ElementsAre(1, 8));
  lists = {{2, 3, 4}, {1, 0, 2}, {100, 20, 4}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}};
  lists.Coalesce();
  EXPECT_THAT(lists.dims, ElementsAre(2, 3, 4));
}

TEST(TransposePlanCacheTest, KeepsThePlansUsedLast) {
  TransposePlanCache cache(2);
  const Problem x = Transposition({2, 3}, {1, 0}), y = Transposition({2, 3}, {0, 1}), z = Transposition({3, 2}, {1, 0});
  const auto first = cache.GetOrCreate(x.options()).value();
  EXPECT_EQ(cache.GetOrCreate(x.options()).value(), first);
  const auto second = cache.GetOrCreate(y.options()).value();
  EXPECT_NE(first, second);
  EXPECT_EQ(cache.GetOrCreate(x.options()).value(), first);
  EXPECT_NE(cache.GetOrCreate(z.options()).value(), nullptr);  // y is the one not used for longest
  EXPECT_EQ(cache.GetOrCreate(x.options()).value(), first);
  EXPECT_NE(cache.GetOrCreate(y.options()).value(), second);
}

TEST(TransposePlanCacheTest, CapacityAndErrors) {
  for (int capacity : {0, -1}) {
    TransposePlanCache nothing(capacity);
    const auto plan = nothing.GetOrCreate(Transposition({2, 3}, {1, 0}).options()).value();
    EXPECT_NE(nothing.GetOrCreate(Transposition({2, 3}, {1, 0}).options()).value(), plan);
  }
  TransposePlanCache cache(2);
  EXPECT_FALSE(cache.GetOrCreate(Transposition({2, 3}, {1, 1}).options()).ok());
}

TEST(TransposePlanCacheTest, Threads) {
  TransposePlanCache cache(3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&cache, thread] {
      for (int64_t i = 0; i < 200; ++i) {
        const Problem problem = Transposition({1 + (i * (thread + 1)) % 5, 2}, {1, 0});
        EXPECT_THAT(cache.GetOrCreate(problem.options()).value()->InputDims(), ElementsAre(problem.dims[0], 2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TransposePlanCacheTest, KeysTellAllOptionsApart) {
  std::vector<Problem> problems(8, Transposition({2, 4}, {1, 0}));
  problems[1].bytes = 8;
  problems[2].permutation = {0, 1};
  problems[3].input_tiling = {2, 2};
  problems[4].strides = {{2, 2}};  // the same numbers as tiles
  problems[5].output_tiling = {2, 2};
  problems[6].threads = 2;
  problems[7].transformation = TransposePlan::Transformation::kF64ToEf57;
  std::vector<TransposePlanCacheKey> keys;
  for (const Problem& problem : problems) keys.emplace_back(problem.options());
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(keys));
  for (size_t i = 0; i < keys.size(); ++i) {
    for (size_t j = 0; j < keys.size(); ++j) EXPECT_EQ(keys[i] == keys[j], i == j);
  }
}

}  // namespace
}  // namespace kashi::relayout
