#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/array/shape_util.h"

namespace kashi::array {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Index = std::vector<int64_t>;
using Indices = std::vector<Index>;

Index Copy(absl::Span<const int64_t> index) { return Index(index.begin(), index.end()); }

Indices Visited(const Shape& shape) {
  Indices visited;
  ShapeUtil::ForEachIndexNoStatus(shape, [&](absl::Span<const int64_t> index) {
    visited.push_back(Copy(index));
    return true;
  });
  return visited;
}

Indices Visited(const Shape& shape, const Index& base, const Index& count, const Index& incr) {
  Indices visited;
  ShapeUtil::ForEachIndexNoStatus(shape, base, count, incr, [&](absl::Span<const int64_t> index) {
    visited.push_back(Copy(index));
    return true;
  });
  return visited;
}

// The rules one by one: all indices in bounds of the loop, logical row-major, then sorted by the physical order.
Indices Naive(const Shape& shape, const Index& base, const Index& count, const Index& incr) {
  if (ShapeUtil::IsZeroElementArray(shape)) return {};
  Indices all = {{}};
  for (int d = 0; d < shape.dimensions_size(); ++d) {
    Indices longer;
    for (const Index& prefix : all) {
      int64_t i = base[d];
      do {
        longer.push_back(prefix);
        longer.back().push_back(i);
        i += incr[d];
      } while (i < base[d] + count[d]);
    }
    all = longer;
  }
  const auto major_to_minor = [&](const Index& index) {
    Index key;
    for (int p = shape.dimensions_size() - 1; p >= 0; --p) key.push_back(index[shape.layout().minor_to_major(p)]);
    return key;
  };
  std::sort(all.begin(), all.end(),
            [&](const Index& a, const Index& b) { return major_to_minor(a) < major_to_minor(b); });
  return all;
}

TEST(ForEachIndex, OrderIsMinorToMajor) {
  EXPECT_THAT(Visited(S("f32[2,2]{1,0}")), ElementsAre(Index{0, 0}, Index{0, 1}, Index{1, 0}, Index{1, 1}));
  EXPECT_THAT(Visited(S("f32[2,2]{0,1}")), ElementsAre(Index{0, 0}, Index{1, 0}, Index{0, 1}, Index{1, 1}));
  EXPECT_THAT(Visited(S("f32[<=2,1]{1,0:T(8,128)}")), ElementsAre(Index{0, 0}, Index{1, 0}));
}

TEST(ForEachIndex, ScalarOnceAndEmptyNever) {
  EXPECT_THAT(Visited(S("f32[]")), ElementsAre(Index{}));
  EXPECT_THAT(Visited(S("f32[3,0,2]")), IsEmpty());
  EXPECT_THAT(Visited(S("f32[0]")), IsEmpty());
  // A count does not matter then.
  EXPECT_THAT(Visited(S("f32[0,2]"), {0, 0}, {1, 1}, {1, 1}), IsEmpty());
}

TEST(ForEachIndex, CountIsAnExtent) {
  const Shape shape = S("f32[10,10]");
  EXPECT_THAT(Visited(shape, {1, 2}, {1, 5}, {1, 2}), ElementsAre(Index{1, 2}, Index{1, 4}, Index{1, 6}));
  // Count 0 still visits the base, once for each index of the others.
  EXPECT_THAT(Visited(shape, {7, 3}, {0, 2}, {1, 1}), ElementsAre(Index{7, 3}, Index{7, 4}));
  EXPECT_THAT(Visited(shape, {7, 3}, {0, 0}, {0, 0}), ElementsAre(Index{7, 3}));
}

TEST(ForEachIndex, AgreesWithTheNaiveLoop) {
  std::mt19937 random(20261);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const int64_t rank = pick(0, 4);
    Index sizes(rank), base(rank), count(rank), incr(rank), order(rank);
    for (int64_t d = 0; d < rank; ++d) {
      sizes[d] = pick(0, 12) == 0 ? 0 : pick(1, 5);
      base[d] = pick(0, 3);
      count[d] = pick(0, 5);
      incr[d] = pick(1, 4);
      order[d] = d;
    }
    std::shuffle(order.begin(), order.end(), random);
    const Shape shape = ShapeUtil::MakeShapeWithDenseLayout(S8, sizes, order);
    ASSERT_EQ(Visited(shape), Naive(shape, Index(rank, 0), sizes, Index(rank, 1))) << shape;
    const Indices expected = Naive(shape, base, count, incr);
    ASSERT_EQ(Visited(shape, base, count, incr), expected) << shape;

    // The other serial forms.
    Indices visited;
    const auto visit = [&](absl::Span<const int64_t> index) -> absl::StatusOr<bool> {
      visited.push_back(Copy(index));
      return true;
    };
    ASSERT_TRUE(ShapeUtil::ForEachIndexWithStatus(shape, {base, count, incr}, visit).ok());
    ASSERT_EQ(visited, expected);
    visited.clear();
    ShapeUtil::ForEachIndex(shape, base, count, incr, visit);
    ASSERT_EQ(visited, expected);
    visited.clear();
    ShapeUtil::ForEachIndex(shape, visit);
    ASSERT_EQ(visited, Visited(shape));

    // The parallel functions visit the same set of indices, each index once.
    std::vector<Indices> by_thread(ShapeUtil::GetForEachIndexParallelThreadCount());
    ShapeUtil::ForEachIndexParallel(shape, base, count, incr,
                                    [&](absl::Span<const int64_t> index, int thread) -> absl::StatusOr<bool> {
                                      by_thread[thread].push_back(Copy(index));
                                      return false;  // not honoured
                                    });
    Indices all;
    for (const Indices& some : by_thread) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    Indices sorted = expected;
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(all, sorted) << shape;
  }
}

TEST(ForEachIndex, FalseAndErrorsEndTheLoop) {
  const Shape shape = S("f32[4,4]");
  int calls = 0;
  ShapeUtil::ForEachIndexNoStatus(shape, [&](absl::Span<const int64_t>) { return ++calls < 3; });
  EXPECT_EQ(calls, 3);
  calls = 0;
  EXPECT_TRUE(ShapeUtil::ForEachIndexWithStatus(shape, [&](absl::Span<const int64_t>) -> absl::StatusOr<bool> {
                return ++calls < 5;
              }).ok());
  EXPECT_EQ(calls, 5);
  calls = 0;
  const auto fails = [&](absl::Span<const int64_t> index) -> absl::StatusOr<bool> {
    ++calls;
    if (index[0] == 1) return InvalidArgument("row %d", index[0]);
    return true;
  };
  EXPECT_EQ(ShapeUtil::ForEachIndexWithStatus(shape, fails), InvalidArgument("row 1"));
  EXPECT_EQ(calls, 5);
  calls = 0;
  ShapeUtil::ForEachIndex(shape, fails);  // drops the error
  EXPECT_EQ(calls, 5);
}

// XLA's own tests do this.
TEST(ForEachIndex, ADimensionThatDoesNotMoveIsTheVisitorsToStop) {
  int calls = 0;
  Index last;
  ShapeUtil::ForEachIndexNoStatus(S("f32[2,3]"), {0, 0}, {2, 3}, {0, 1}, [&](absl::Span<const int64_t> index) {
    last.assign(index.begin(), index.end());
    return ++calls < 8;
  });
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(last, Index({0, 1}));
}

TEST(ForEachIndex, BadArgumentsDie) {
  const auto visit = [](absl::Span<const int64_t>) { return true; };
  Shape shape = S("f32[2,3]");
  EXPECT_DEATH(ShapeUtil::ForEachIndexNoStatus(shape, {0}, {1, 1}, {1, 1}, visit), "");
  EXPECT_DEATH(ShapeUtil::ForEachIndexNoStatus(shape, {0, 0}, {1, 1}, {-1, 1}, visit), "");
  EXPECT_DEATH(ShapeUtil::ForEachIndexNoStatus(S("f32[2]{1}"), visit), "");
  shape.clear_layout();
  EXPECT_DEATH(ShapeUtil::ForEachIndexNoStatus(shape, visit), "");
}

TEST(ForEachIndexParallel, EveryIndexOnce) {
  const Shape shape = S("f32[37,5,41]{0,2,1}");
  std::vector<int> visits(ShapeUtil::ElementsIn(shape), 0);
  ShapeUtil::ForEachIndexParallel(shape, [&](absl::Span<const int64_t> i, int thread) -> absl::StatusOr<bool> {
    EXPECT_TRUE(0 <= thread && thread < ShapeUtil::GetForEachIndexParallelThreadCount());
    ++visits[(i[0] * 5 + i[1]) * 41 + i[2]];
    return true;
  });
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1));
}

TEST(ForEachIndexParallel, ScalarOnceInline) {
  int calls = 0;
  ShapeUtil::ForEachIndexParallel(S("f32[]"), [&](absl::Span<const int64_t> i, int thread) -> absl::StatusOr<bool> {
    EXPECT_TRUE(i.empty());
    EXPECT_EQ(thread, 0);
    ++calls;
    return true;
  });
  EXPECT_EQ(calls, 1);
  ShapeUtil::ForEachIndexParallel(S("f32[0]"), [&](absl::Span<const int64_t>, int) -> absl::StatusOr<bool> {
    ADD_FAILURE();
    return true;
  });
}

TEST(ForEachIndexParallel, ErrorsStopNobodyAndTheFirstIsReturned) {
  const Shape shape = S("f32[1000]");
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> calls{0};
    const absl::Status status = ShapeUtil::ForEachIndexParallelWithStatus(
        shape, [&](absl::Span<const int64_t> index, int) -> absl::StatusOr<bool> {
          ++calls;
          if (index[0] % 7 == 6) return Internal("at %d", index[0]);
          return true;
        });
    EXPECT_EQ(status, Internal("at 6"));
    EXPECT_EQ(calls, 1000);
  }
  EXPECT_DEATH(
      ShapeUtil::ForEachIndexParallel(shape, {0}, {2}, {0}, [](absl::Span<const int64_t>, int) { return true; }),
      "never end");
  const auto fails = [](absl::Span<const int64_t>, int) -> absl::StatusOr<bool> { return Internal("no"); };
  EXPECT_DEATH(ShapeUtil::ForEachIndexParallel(S("f32[]"), fails), "no");
}

}  // namespace
}  // namespace kashi::array
