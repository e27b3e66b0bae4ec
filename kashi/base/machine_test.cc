#include "kashi/base/machine.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kashi::base {
namespace {

// A machine of files.
class FakeMachine {
 public:
  explicit FakeMachine(const std::string& name) : root_(testing::TempDir() + "/kashi_machine_" + name) {
    std::filesystem::remove_all(root_);  // of an earlier run
  }
  FakeMachine& Has(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
    return *this;
  }
  int64_t available() const { return AvailableMemoryBytesBelow(root_); }

 private:
  std::string root_;
};

constexpr char kMeminfo[] = "MemTotal:       16000 kB\nMemFree:  1000 kB\nMemAvailable:   8000 kB\n";

TEST(MachineTest, HasMemory) {
  EXPECT_GT(MachineMemoryBytes(), int64_t{1} << 26);
  EXPECT_GT(AvailableMemoryBytes(), 0);
  EXPECT_LE(AvailableMemoryBytes(), MachineMemoryBytes());
}

TEST(AvailableMemoryTest, WhereNobodySaysThereIsNoLimit) { EXPECT_EQ(FakeMachine("none").available(), INT64_MAX); }

TEST(AvailableMemoryTest, WithoutGroupsItIsWhatTheSystemSays) {
  EXPECT_EQ(FakeMachine("plain").Has("/proc/meminfo", kMeminfo).available(), 8000 * 1024);
}

TEST(AvailableMemoryTest, Version2CountsTheGroupAndThoseAbove) {
  FakeMachine machine("v2");
  machine.Has("/proc/meminfo", kMeminfo).Has("/proc/self/cgroup", "0::/pod/container\n");
  machine.Has("/sys/fs/cgroup/pod/container/memory.max", "max\n");
  machine.Has("/sys/fs/cgroup/pod/container/memory.current", "500000\n");
  EXPECT_EQ(machine.available(), 8000 * 1024);
  machine.Has("/sys/fs/cgroup/pod/memory.max", "1000000\n").Has("/sys/fs/cgroup/pod/memory.current", "700000\n");
  EXPECT_EQ(machine.available(), 300000);
  machine.Has("/sys/fs/cgroup/pod/memory.stat", "anon 600000\ninactive_file 100000\n");
  EXPECT_EQ(machine.available(), 400000);
  machine.Has("/sys/fs/cgroup/pod/container/memory.max", "600000\n");
  EXPECT_EQ(machine.available(), 100000);
}

TEST(AvailableMemoryTest, AContainerMaySeeItsGroupAsTheRoot) {
  FakeMachine machine("root");
  machine.Has("/proc/meminfo", kMeminfo).Has("/proc/self/cgroup", "0::/not/there\n");
  machine.Has("/sys/fs/cgroup/memory.max", "1000\n").Has("/sys/fs/cgroup/memory.current", "2000\n");
  EXPECT_EQ(machine.available(), 0);
}

TEST(AvailableMemoryTest, Version1HasOtherNames) {
  FakeMachine machine("v1");
  machine.Has("/proc/meminfo", kMeminfo).Has("/proc/self/cgroup", "9:name=systemd:/a\n4:cpu,memory:/jobs/7\n0::/\n");
  machine.Has("/sys/fs/cgroup/memory/jobs/7/memory.limit_in_bytes", "4096000\n");
  machine.Has("/sys/fs/cgroup/memory/jobs/7/memory.usage_in_bytes", "96000\n");
  machine.Has("/sys/fs/cgroup/memory/jobs/7/memory.stat", "cache 1\ntotal_inactive_file 6000\n");
  EXPECT_EQ(machine.available(), 4006000);
}

TEST(PeakMemoryTest, StaysWhenMemoryIsFreed) {
  const int64_t before = PeakMemoryBytes();
  ASSERT_GT(before, 0);
  { const std::vector<char> block(size_t{64} << 20, 1); }
  EXPECT_GE(PeakMemoryBytes(), int64_t{64} << 20);
}

}  // namespace
}  // namespace kashi::base
