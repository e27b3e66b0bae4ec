// EXPECT_IS_OK and its kin, of a Status or a StatusOr.
#ifndef KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_HELPERS_H_
#define KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_HELPERS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla/tsl/platform/test.h"

namespace testing::internal_status {

inline const ::absl::Status& GetStatus(const ::absl::Status& status) { return status; }
template <typename T>
const ::absl::Status& GetStatus(const ::absl::StatusOr<T>& status_or) {
  return status_or.status();
}

}  // namespace testing::internal_status

#define EXPECT_IS_OK(...) EXPECT_EQ(::absl::OkStatus(), ::testing::internal_status::GetStatus(__VA_ARGS__))
#define EXPECT_IS_NOT_OK(...) EXPECT_NE(::absl::OkStatus(), ::testing::internal_status::GetStatus(__VA_ARGS__))
#define ASSERT_IS_OK(...) ASSERT_EQ(::absl::OkStatus(), ::testing::internal_status::GetStatus(__VA_ARGS__))
#define ASSERT_IS_NOT_OK(...) ASSERT_NE(::absl::OkStatus(), ::testing::internal_status::GetStatus(__VA_ARGS__))

#endif  // KASHI_COMPAT_XLA_HLO_TESTLIB_TEST_HELPERS_H_
