#include "kashi/analysis/scoped_memory.h"

#include "gtest/gtest.h"

namespace kashi {
namespace {

TEST(ScopedMemoryTest, ReadsWhatTheTpuCompilerWrites) {
  const auto scoped = UsedScopedMemory(
      R"({"flag_configs":[],"scoped_memory_configs":[{"memory_space":"0","offset":"0","size":"7"}],)"
      R"("used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1024"},{"memory_space":"6","size":"8"}]})");
  ASSERT_EQ(scoped.size(), 2);
  EXPECT_EQ(scoped[0].memory_space, 1);
  EXPECT_EQ(scoped[0].bytes, 1024);
  EXPECT_EQ(scoped[1].memory_space, 6);
  EXPECT_EQ(scoped[1].bytes, 8);
}

TEST(ScopedMemoryTest, OtherTextsSayNothing) {
  EXPECT_TRUE(UsedScopedMemory("").empty());
  EXPECT_TRUE(UsedScopedMemory("{\"used_scoped_memory_configs\":[").empty());
  EXPECT_TRUE(UsedScopedMemory("{\"used_scoped_memory_configs\":[{]}").empty());
  EXPECT_TRUE(UsedScopedMemory(R"({"used_scoped_memory_configs":[{"memory_space":"x","size":"1"}]})").empty());
  EXPECT_TRUE(UsedScopedMemory(R"({"used_scoped_memory_configs":[{"memory_space":"1","size":"-1"}]})").empty());
}

}  // namespace
}  // namespace kashi
