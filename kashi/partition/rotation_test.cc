#include "kashi/partition/rotation.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/partition/partition_testing.h"

namespace kashi::partition {
namespace {

// x = f32[size,3], rotated along dimension 0.
std::string Rotated(int64_t size, int64_t by, absl::string_view sharding, absl::string_view of_result = "") {
  return Program(absl::StrCat("x = f32[", size, ",3] parameter(0), sharding=", sharding, "\na = f32[", size - by,
                              ",3] slice(x), slice={[", by, ":", size, "], [0:3]}\nb = f32[", by,
                              ",3] slice(x), slice={[0:", by, "], [0:3]}\nROOT y = f32[", size,
                              ",3] concatenate(a, b), dimensions={0}", of_result));
}

constexpr char kRows[] = "{devices=[4,1]<=[4]}", kColumns[] = "{devices=[1,4]<=[4]}";

TEST(RotationTest, GivesTheElementsOfTheWhole) {
  for (const int64_t size : {2, 4, 5, 7, 8, 12, 16}) {
    for (int64_t by = 1; by < size; ++by) {
      for (const absl::string_view sharding :
           {kRows, kColumns, "{replicated}", "{devices=[2,2]<=[4]}", "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
            "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}", "{devices=[4,1]2,0,3,1}"}) {
        ExpectSame(Rotated(size, by, sharding));
        ExpectSame(Rotated(size, by, sharding, ", sharding={replicated}"));
        ExpectSame(Rotated(size, by, sharding, absl::StrCat(", sharding=", kRows)));
      }
    }
  }
}

TEST(RotationTest, NeedsElementsOfAtMostTwoOthers) {
  EXPECT_EQ(CollectivesOf(Rotated(8, 1, kRows)), "collective-permute");  // own elements, and one of the next device
  EXPECT_EQ(CollectivesOf(Rotated(8, 7, kRows)), "collective-permute");  // one of the device before
  EXPECT_EQ(CollectivesOf(Rotated(8, 2, kRows)), "collective-permute");  // all of the next one
  EXPECT_EQ(CollectivesOf(Rotated(8, 3, kRows)), "collective-permute collective-permute");
  EXPECT_EQ(CollectivesOf(Rotated(8, 3, "{replicated}", absl::StrCat(", sharding=", kRows))), "");
  EXPECT_EQ(CollectivesOf(Rotated(7, 3, kRows)), "all-gather");  // no even parts
  EXPECT_EQ(CollectivesOf(Rotated(7, 3, "{devices=[1,2,2]<=[4] last_tile_dim_replicate}")), "");
}

TEST(RotationTest, OfRotations) {
  const std::string both = Program(R"(x = f32[8,8] parameter(0), sharding={devices=[2,2]<=[4]}
    a = f32[7,8] slice(x), slice={[1:8], [0:8]} b = f32[1,8] slice(x), slice={[0:1], [0:8]}
    y = f32[8,8] concatenate(a, b), dimensions={0}
    c = f32[8,1] slice(y), slice={[0:8], [7:8]} d = f32[8,7] slice(y), slice={[0:8], [0:7]}
    ROOT z = f32[8,8] concatenate(c, d), dimensions={1})");
  ExpectSame(both);
  EXPECT_EQ(CollectivesOf(both), "collective-permute collective-permute");
}

TEST(RotationTest, IsFoundOnlyWhereItIsOne) {
  const auto is_one = [](absl::string_view operations) {
    const auto module =
        ReadModule(Program(absl::StrCat("x = f32[4,3] parameter(0)\nw = f32[4,3] parameter(1)\n", operations)));
    return RotationOf(*module->entry_computation()->root_instruction()).has_value();
  };
  const auto of_slices = [&](absl::string_view a, absl::string_view b) {
    return is_one(absl::StrCat("a = ", a, "\nb = ", b, "\nROOT y = f32[4,3] concatenate(a, b), dimensions={0}"));
  };
  constexpr absl::string_view kEnd = "f32[3,3] slice(x), slice={[1:4], [0:3]}";
  constexpr absl::string_view kBegin = "f32[1,3] slice(x), slice={[0:1], [0:3]}";
  EXPECT_TRUE(of_slices(kEnd, kBegin));
  EXPECT_FALSE(of_slices(kEnd, "f32[1,3] slice(w), slice={[0:1], [0:3]}"));
  EXPECT_FALSE(of_slices(kEnd, "f32[1,3] slice(x), slice={[1:2], [0:3]}"));
  EXPECT_FALSE(of_slices("f32[3,3] slice(x), slice={[0:3], [0:3]}", kBegin));
  EXPECT_FALSE(of_slices("f32[2,3] slice(x), slice={[0:4:2], [0:3]}", "f32[2,3] slice(x), slice={[0:2], [0:3]}"));
  EXPECT_FALSE(of_slices("f32[4,3] copy(x)", "f32[0,3] slice(x), slice={[0:0], [0:3]}"));
  EXPECT_FALSE(is_one(R"(a = f32[3,3] slice(x), slice={[1:4], [0:3]} b = f32[1,3] slice(x), slice={[0:1], [0:3]}
    ROOT y = f32[7,3] concatenate(a, b, a), dimensions={0})"));
  EXPECT_FALSE(is_one(R"(a = f32[4,2] slice(x), slice={[0:4], [1:3]} b = f32[4,2] slice(x), slice={[0:4], [0:2]}
    ROOT y = f32[4,4] concatenate(a, b), dimensions={1})"));
}

}  // namespace
}  // namespace kashi::partition
