// gtest and gmock, and where tests may write.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_H_

#include <cstdlib>
#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla/tsl/platform/macros.h"
#include "xla/tsl/platform/types.h"

#if defined(ABSL_HAVE_STD_STRING_VIEW) && !defined(ABSL_USES_STD_STRING_VIEW)
// gtest's ContainsRegex and MatchesRegex know std::string_view; where abseil has a class of its own, g++ cannot turn
// that into the const std::string& they fall back on. EXPECT_THAT(status.message(), ContainsRegex("…")) needs it.
template <>
inline bool testing::internal::MatchesRegexMatcher::MatchAndExplain<absl::string_view>(
    const absl::string_view& text, MatchResultListener* listener) const {
  return MatchAndExplain(std::string(text), listener);
}
#endif

namespace tsl::testing {

inline std::string TmpDir() {
  const std::string directory = ::testing::TempDir();
  return directory.size() > 1 && directory.back() == '/' ? directory.substr(0, directory.size() - 1) : directory;
}
inline int RandomSeed() { return ::testing::UnitTest::GetInstance()->random_seed(); }
// The folder "xla" that test data is named from: the environment variable XLA_SRC_ROOT, or the current folder.
inline std::string XlaSrcRoot() {
  const char* root = std::getenv("XLA_SRC_ROOT");
  return root == nullptr ? "." : root;
}

}  // namespace tsl::testing

#endif  // KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_H_
