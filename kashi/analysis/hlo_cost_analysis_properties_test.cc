#include "kashi/analysis/hlo_cost_analysis_properties.h"

#include <map>
#include <string>

#include "gtest/gtest.h"

namespace kashi::analysis {
namespace {

std::map<std::string, float> AllProperties(const HloCostProperties& properties) {
  std::map<std::string, float> all;
  properties.ForEach([&](absl::string_view key, float value) {
    EXPECT_TRUE(all.emplace(std::string(key), value).second) << key << " twice";
  });
  return all;
}

TEST(HloCostPropertiesTest, Keys) {
  EXPECT_EQ(HloCostProperties::OperandBytesAccessedKey(0), "bytes accessed0{}");
  EXPECT_EQ(HloCostProperties::OperandBytesAccessedKey(12, {1, 0}), "bytes accessed12{1,0}");
  EXPECT_EQ(HloCostProperties::OperandUtilizationKey(3), "utilization3{}");
  EXPECT_EQ(HloCostProperties::OutputBytesAccessedKey(), "bytes accessedout{}");
  EXPECT_EQ(HloCostProperties::OutputBytesAccessedKey({2}), "bytes accessedout{2}");
}

TEST(HloCostPropertiesTest, KeysAndFunctionsAreTheSame) {
  HloCostProperties properties;
  properties.set_operand_bytes_accessed(1, 8);
  properties.set_operand_bytes_accessed(1, {0}, 4);
  properties.set_operand_utilization(2, 0.5);
  properties.set_output_bytes_accessed(16);
  properties.set_output_bytes_accessed({1}, 2);
  EXPECT_EQ(properties["bytes accessed1{}"], 8);
  EXPECT_EQ(properties["bytes accessed1{0}"], 4);
  EXPECT_EQ(properties["utilization2{}"], 0.5);
  EXPECT_EQ(properties["bytes accessedout{}"], 16);
  EXPECT_EQ(properties["bytes accessedout{1}"], 2);
  properties["bytes accessed0{}"] = 3;
  properties["utilization0{1}"] = 0.25;
  EXPECT_EQ(properties.operand_bytes_accessed(0), 3);
  EXPECT_EQ(properties.operand_utilization(0, {1}), 0.25);
  EXPECT_EQ(properties.operand_utilization(7), 0);
}

TEST(HloCostPropertiesTest, AnyKey) {
  HloCostProperties properties;
  EXPECT_TRUE(properties.empty());
  for (const char* key : {"flops", "my own", "", "bytes accessed", "bytes accessedout", "bytes accessed01{}",
                          "bytes accessed-1{}", "utilization", "utilization{}", "bytes accessed99999999999999999999{}",
                          "bytes accessed4000000000{}", "utilization70000{}"}) {
    EXPECT_EQ(properties[key], 0) << key;
    properties[key] = 2;
    EXPECT_EQ(properties[key], 2) << key;
  }
  EXPECT_EQ(AllProperties(properties).size(), 12);
  EXPECT_EQ(properties.operand_utilization(70000), 2);
  EXPECT_LT(properties.size(), 1000);  // big numbers in keys make nothing big
  EXPECT_FALSE(properties.empty());
}

TEST(HloCostPropertiesTest, ZeroIsNotSet) {
  HloCostProperties properties;
  properties["flops"] = 0;
  properties["x"] = 0;
  properties.set_operand_utilization(3, 0);
  EXPECT_TRUE(properties.empty());
}

TEST(HloCostPropertiesTest, Sums) {
  HloCostProperties a, b;
  a["flops"] = 3;
  a["x"] = 1;
  a.set_operand_bytes_accessed(0, 4);
  b["flops"] = -1;
  b.set_operand_bytes_accessed(2, 5);
  HloCostProperties sum = a;
  sum += b;
  EXPECT_EQ(AllProperties(sum),
            (std::map<std::string, float>{{"flops", 2}, {"x", 1}, {"bytes accessed0{}", 4}, {"bytes accessed2{}", 5}}));
  sum -= b;
  EXPECT_EQ(AllProperties(sum), AllProperties(a));
  HloCostProperties most = b;
  most.TakeMax(a);
  EXPECT_EQ(most["flops"], 3);
  EXPECT_EQ(most.operand_bytes_accessed(2), 5);
  HloCostProperties unset = b;
  EXPECT_EQ(unset.TakeMax(HloCostProperties())["flops"], -1);  // nothing is no number
}

}  // namespace
}  // namespace kashi::analysis
