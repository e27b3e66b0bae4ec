#include "kashi/analysis/tpu_backend_config.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::analysis {
namespace {

using ::testing::ElementsAre;

TEST(TpuBackendConfigTest, ScopedMemory) {
  const auto scoped = UsedScopedMemory(
      R"({"flag_configs":[],"scoped_memory_configs":[{"memory_space":"0","offset":"0","size":"7"}],)"
      R"("used_scoped_memory_configs":[{"memory_space":"1","offset":"0","size":"1024"},{"memory_space":"6","size":"8"}]})");
  ASSERT_EQ(scoped.size(), 2);
  EXPECT_EQ(scoped[0].memory_space, 1);
  EXPECT_EQ(scoped[0].bytes, 1024);
  EXPECT_EQ(scoped[1].memory_space, 6);
  EXPECT_EQ(scoped[1].bytes, 8);
}

TEST(TpuBackendConfigTest, AliasingOperands) {
  EXPECT_THAT(AliasingOperands(R"({"flag_configs":[],"aliasing_operands":{"lists":[{"indices":["0","2"]},)"
                               R"({"indices":["1","3","14"]}]}})"),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3, 14)));
  EXPECT_TRUE(AliasingOperands(R"({"aliasing_operands":{"lists":[]}})").empty());
}

TEST(TpuBackendConfigTest, OtherTextsSayNothing) {
  EXPECT_TRUE(AliasingOperands("").empty());
  EXPECT_TRUE(AliasingOperands(R"({"aliasing_operands":{"lists":[{"indices":["0","1")").empty());
  EXPECT_THAT(
      AliasingOperands(R"({"aliasing_operands":{"lists":[{"indices":["0",x]},{"indices":["99999999999999999999"]},)"
                       R"({"indices":[]}]}})"),
      ElementsAre(ElementsAre(), ElementsAre(), ElementsAre()));
  EXPECT_TRUE(UsedScopedMemory("").empty());
  EXPECT_TRUE(UsedScopedMemory("{\"used_scoped_memory_configs\":[").empty());
  EXPECT_TRUE(UsedScopedMemory("{\"used_scoped_memory_configs\":[{]}").empty());
  EXPECT_TRUE(UsedScopedMemory(R"({"used_scoped_memory_configs":[{"memory_space":"x","size":"1"}]})").empty());
  EXPECT_TRUE(UsedScopedMemory(R"({"used_scoped_memory_configs":[{"memory_space":"1","size":"-1"}]})").empty());
}

}  // namespace
}  // namespace kashi::analysis
