#include "kashi/relayout/cache_model.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kashi::relayout {
namespace {

using testing::HasSubstr;

TEST(CacheModelTest, TextIsReadAsItIsWritten) {
  for (const char* text : {"32K/8,512K/8,32M", "48K/12,2M/16,260M", "64/1,128/2,128", "1M/64,64M/16,1024M"}) {
    const auto model = ParseCacheModel(text);
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(model->ToString(), text);
  }
  EXPECT_EQ(CacheModel().ToString(), "32K/8,512K/8,32M");
  EXPECT_EQ(CacheModel().l1.period(), 4096);
}

TEST(CacheModelTest, OtherTextIsRefused) {
  const struct {
    const char* text;
    const char* why;
  } kCases[] = {
      {"", "does not say caches"},
      {"32K/8", "does not say caches"},
      {"32K/8,512K/8,32M,1", "does not say caches"},
      {"32K,512K/8,32M", "L1 is `32K`: expected its size and its ways"},
      {"32K/8,512K/0,32M", "L2 is `512K/0`: expected 1 to 64 ways"},
      {"32K/8,512K/-8,32M", "L2"},
      {"32K/7,512K/8,32M", "L1 is `32K/7`"},
      {"48K/8,512K/8,32M", "L1 is `48K/8`: expected 1 to 64 ways, size / ways a power of two"},
      {"128/8,512K/8,32M", "L1"},
      {"2M/8,4M/8,32M", "and at most 1M"},
      {"32K/8,512K/8,256K", "the largest cache is `256K`"},
      {"32K/8,512K/8,", "the largest cache is ``"},
      {"32K/8,512K/8,99999999999999999999M", "the largest cache"},
      {"0K/8,512K/8,32M", "L1"},
      {"32K/8/1,512K/8,32M", "L1"},
  };
  for (const auto& c : kCases) {
    const auto model = ParseCacheModel(c.text);
    ASSERT_FALSE(model.ok()) << c.text;
    EXPECT_EQ(model.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(model.status().message()), HasSubstr(c.why));
  }
}

// A tree such as Linux has below /sys.
class CacheTree {
 public:
  CacheTree() : root_(std::filesystem::path(testing::TempDir()) / "kashi_cache_tree") {
    std::filesystem::remove_all(root_);
  }
  ~CacheTree() { std::filesystem::remove_all(root_); }

  void Add(int index, const std::string& level, const std::string& type, const std::string& size,
           const std::string& ways) {
    const auto folder = root_ / "sys/devices/system/cpu/cpu0/cache" / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << "\n";
    std::ofstream(folder / "type") << type << "\n";
    std::ofstream(folder / "size") << size << "\n";
    std::ofstream(folder / "ways_of_associativity") << ways << "\n";
  }
  std::string Model() const { return CacheModel::OfMachineBelow(root_.string()).ToString(); }

 private:
  std::filesystem::path root_;
};

TEST(CacheModelTest, ReadsTheSystemsFiles) {
  CacheTree tree;
  EXPECT_EQ(tree.Model(), CacheModel().ToString()) << "nothing is there";
  tree.Add(0, "1", "Data", "48K", "12");
  tree.Add(1, "1", "Instruction", "32K", "8");
  tree.Add(2, "2", "Unified", "2048K", "16");
  EXPECT_EQ(tree.Model(), "48K/12,2M/16,2M");
  tree.Add(3, "3", "Unified", "266240K", "20");
  EXPECT_EQ(tree.Model(), "48K/12,2M/16,260M");
}

TEST(CacheModelTest, NonsenseOfTheSystemIsLeftOut) {
  CacheTree tree;
  tree.Add(0, "1", "Data", "32K", "0");
  tree.Add(1, "2", "Unified", "500K", "8");
  tree.Add(2, "3", "Unified", "64M", "x");
  EXPECT_EQ(tree.Model(), "32K/8,512K/8,64M");
}

TEST(CacheModelTest, OfMachineIsUsable) {
  const std::string text = CacheModel::OfMachine().ToString();
  EXPECT_TRUE(ParseCacheModel(text).ok()) << text;
}

}  // namespace
}  // namespace kashi::relayout
