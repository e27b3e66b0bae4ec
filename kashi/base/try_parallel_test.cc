#include "kashi/base/try_parallel.h"

#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

TEST(TryParallel, CallsAllBodies) {
  std::vector<int> visits(1000, 0);
  EXPECT_TRUE(TryParallelFor(1000, 1, [&](int64_t begin, int64_t end, int) {
                for (int64_t i = begin; i < end; ++i) ++visits[i];
                return absl::OkStatus();
              }).ok());
  EXPECT_EQ(visits, std::vector<int>(1000, 1));
}

TEST(TryParallel, EndsWithAnError) {
  for (int64_t failing : {0, 500, 999}) {
    const absl::Status status = TryParallelFor(1000, 1, [failing](int64_t begin, int64_t end, int) {
      return begin <= failing && failing < end ? absl::CancelledError("here") : absl::OkStatus();
    });
    EXPECT_EQ(status, absl::CancelledError("here"));
  }
}

}  // namespace
}  // namespace kashi::base
