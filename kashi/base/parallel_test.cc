#include "kashi/base/parallel.h"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kashi/base/denormals.h"

namespace kashi::base {
namespace {

TEST(Parallel, EveryNumberOnce) {
  for (int64_t n : {0, 1, 2, 7, 8, 9, 100, 1000, 12345}) {
    for (int64_t grain : {-1, 0, 1, 3, 64, 100000}) {
      std::vector<int> visits(n, 0);  // not atomic: a number visited twice at once is a race that tsan sees
      ParallelFor(n, grain, [&](int64_t begin, int64_t end, int thread) {
        EXPECT_LT(begin, end);
        EXPECT_TRUE(0 <= thread && thread < ParallelThreadCount());
        if (end != n) {
          EXPECT_GE(end - begin, grain);
        }
        for (int64_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(n, 1)) << n << " by " << grain;
    }
  }
}

TEST(Parallel, ThreadNumbersAreExclusive) {
  std::vector<std::atomic<int>> inside(ParallelThreadCount());
  for (auto& count : inside) count = 0;
  for (int round = 0; round < 200; ++round) {
    ParallelFor(64, 1, [&](int64_t, int64_t, int thread) {
      EXPECT_EQ(inside[thread].fetch_add(1), 0);
      std::this_thread::yield();
      inside[thread].fetch_sub(1);
    });
  }
}

TEST(Parallel, CallerIsThreadZero) {
  const auto caller = std::this_thread::get_id();
  ParallelFor(1000, 1,
              [&](int64_t, int64_t, int thread) { EXPECT_EQ(thread == 0, std::this_thread::get_id() == caller); });
}

// Whichever thread meets it; and the pool goes on.
TEST(Parallel, AnExceptionReachesTheCaller) {
  for (int64_t bad = 0; bad < 64; ++bad) {
    std::atomic<int64_t> visited{0};
    const auto loop = [&] {
      ParallelFor(64, 1, [&](int64_t begin, int64_t end, int) {
        visited += end - begin;
        if (begin <= bad && bad < end) throw std::runtime_error("no luck");
      });
    };
    EXPECT_THROW(loop(), std::runtime_error);
    EXPECT_EQ(visited, 64);
  }
}

TEST(Parallel, SmallLoopsRunInline) {
  int calls = 0;
  const auto caller = std::this_thread::get_id();
  ParallelFor(100, 100, [&](int64_t begin, int64_t end, int thread) {
    ++calls;
    EXPECT_EQ(begin, 0);
    EXPECT_EQ(end, 100);
    EXPECT_EQ(thread, 0);
    EXPECT_EQ(std::this_thread::get_id(), caller);
  });
  EXPECT_EQ(calls, 1);
}

TEST(Parallel, NestedLoopsRunInlineUnderTheSameNumber) {
  if (ParallelThreadCount() == 1) GTEST_SKIP() << "no second thread";
  std::vector<int> visits(100 * 50, 0);
  ParallelFor(100, 1, [&](int64_t begin, int64_t end, int outer) {
    for (int64_t i = begin; i < end; ++i) {
      const auto self = std::this_thread::get_id();
      int ranges = 0;
      ParallelFor(50, 1, [&](int64_t inner_begin, int64_t inner_end, int inner) {
        ++ranges;
        EXPECT_EQ(inner, outer);
        EXPECT_EQ(std::this_thread::get_id(), self);
        for (int64_t j = inner_begin; j < inner_end; ++j) ++visits[i * 50 + j];
      });
      EXPECT_EQ(ranges, 1);
    }
  });
  EXPECT_EQ(visits, std::vector<int>(100 * 50, 1));
}

TEST(Parallel, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::vector<int64_t> totals(6, 0);
  for (size_t caller = 0; caller < totals.size(); ++caller) {
    callers.emplace_back([&totals, caller] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int64_t> sums(ParallelThreadCount(), 0);  // also shows that the bodies' writes are seen here
        ParallelFor(997, 1, [&](int64_t begin, int64_t end, int thread) {
          for (int64_t i = begin; i < end; ++i) sums[thread] += i;
        });
        totals[caller] += std::accumulate(sums.begin(), sums.end(), int64_t{0});
      }
    });
  }
  for (std::thread& thread : callers) thread.join();
  EXPECT_EQ(totals, std::vector<int64_t>(6, int64_t{100} * (997 * 996 / 2)));
}

TEST(Parallel, HugeRange) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  std::atomic<uint64_t> total{0};
  ParallelFor(kMax, 1, [&](int64_t begin, int64_t end, int) { total += end - begin; });
  EXPECT_EQ(total, kMax);
  ParallelFor(kMax, kMax, [&](int64_t begin, int64_t end, int) { total -= end - begin; });
  EXPECT_EQ(total, 0);
}

bool KeepsDenormals() {
  volatile float smallest = std::numeric_limits<float>::denorm_min();
  return smallest * 2.0f != 0.0f;
}

[[noreturn]] void ExitWithFlushingThreads() {
  const DenormalMode flush(true);
  std::atomic<int> kept{0}, flushed{0};
  while (kept + flushed == 0) {
    ParallelFor(1000, 1, [&](int64_t, int64_t, int thread) {
      if (thread > 0) ++(KeepsDenormals() ? kept : flushed);
    });
  }
  std::_Exit(flushed == 0 ? 0 : 1);
}

// In a process of its own, where no loop has started the threads yet.
TEST(Parallel, ThreadsKeepDenormalsWhateverTheirFirstCallerDoes) {
  if (ParallelThreadCount() == 1) GTEST_SKIP() << "no second thread";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ExitWithFlushingThreads(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kashi::base
