// gtest and gmock, and where tests may write.
#ifndef KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_H_
#define KASHI_COMPAT_XLA_TSL_PLATFORM_TEST_H_

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "xla/tsl/platform/macros.h"
#include "xla/tsl/platform/types.h"

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
