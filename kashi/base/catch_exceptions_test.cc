#include "kashi/base/catch_exceptions.h"

#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"

namespace kashi::base {
namespace {

template <typename Exception>
absl::Status StatusOf(Exception exception) {
  return CatchExceptions([&]() -> absl::Status { throw exception; });
}

TEST(CatchExceptionsTest, KindsOfExceptions) {
  EXPECT_EQ(StatusOf(std::bad_alloc()), absl::ResourceExhaustedError("Out of memory: the machine has no more"));
  EXPECT_EQ(StatusOf(std::system_error(EAGAIN, std::generic_category())),
            absl::ResourceExhaustedError("the machine gives the process no more threads"));
  EXPECT_EQ(StatusOf(std::system_error(ENOENT, std::generic_category(), "file")).code(), absl::StatusCode::kInternal);
  EXPECT_EQ(StatusOf(std::runtime_error("no luck")), absl::InternalError("no luck"));
  EXPECT_EQ(StatusOf(5), absl::InternalError("an exception that does not tell what it is"));
}

TEST(CatchExceptionsTest, ResultsWithoutExceptions) {
  EXPECT_EQ(*CatchExceptions([]() -> absl::StatusOr<int> { return 5; }), 5);
  EXPECT_EQ(CatchExceptions([] { return absl::NotFoundError("x"); }), absl::NotFoundError("x"));
}

}  // namespace
}  // namespace kashi::base
