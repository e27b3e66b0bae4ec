#include "kashi/base/processors.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

class ProcessorQuotaTest : public testing::Test {
 protected:
  ProcessorQuotaTest()
      : root_(testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~ProcessorQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::optional<double> Quota(absl::string_view groups) const { return ProcessorQuota(groups, root_); }

  const std::string root_;
};

TEST_F(ProcessorQuotaTest, Version2) {
  Write("/a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(Quota("0::/a/b\n"), 1.5);
  EXPECT_EQ(Quota("0::/a/b/c\n"), 1.5);
  EXPECT_EQ(Quota("0::/a\n"), std::nullopt);
  Write("/a/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota("0::/a/b\n"), 1.5);
  Write("/a/cpu.max", "50000 100000\n");
  EXPECT_EQ(Quota("0::/a/b\n"), 0.5);
}

// A container sees its own group at the mount.
TEST_F(ProcessorQuotaTest, OfTheMount) {
  Write("/cpu.max", "400000 100000\n");
  EXPECT_EQ(Quota("0::/\n"), 4);
  EXPECT_EQ(Quota("0::/system.slice/outside\n"), 4);
}

TEST_F(ProcessorQuotaTest, Version1) {
  Write("/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "200000\n");
  Write("/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Quota("5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n"), 2);
  Write("/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Quota("4:cpu,cpuacct:/docker/x\n"), std::nullopt);
}

TEST_F(ProcessorQuotaTest, WhatIsNoQuota) {
  for (const char* text : {"", "max", "max max", "x y", "0 100000", "100000 0", "-5 100000", "nan 100000", "1 2 3"}) {
    Write("/a/cpu.max", text);
    EXPECT_EQ(Quota("0::/a\n"), std::nullopt) << text;
  }
  for (const char* groups : {"", "0", "0:", "0::", "0::a", "::", "0::/nowhere", "1:cpu:/nowhere"}) {
    EXPECT_EQ(Quota(groups), std::nullopt) << groups;
  }
}

TEST(ProcessorCountTest, IsAtLeastOne) { EXPECT_GE(ProcessorCount(), 1); }

}  // namespace
}  // namespace kashi::base
