#include "kashi/array/tpu_tiling.h"

#include <algorithm>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/tpu_shapes_testing.h"

namespace kashi::array {
namespace {

using ::testing::HasSubstr;

std::string Choose(const std::string& text, absl::string_view generation) {
  absl::StatusOr<Shape> shape = ParseShape(text);
  EXPECT_TRUE(shape.ok()) << shape.status();
  const absl::StatusOr<Layout> layout = ChooseTpuLayout(*shape, *ParseTpuGeneration(generation));
  EXPECT_TRUE(layout.ok()) << layout.status();
  return layout.ok() ? layout->ToString() : "";
}

TEST(TpuTilingTest, Names) {
  int i = 0;
  for (const TpuGenerationInfo& info : TpuGenerations()) {
    EXPECT_EQ(static_cast<int>(info.generation), i++);
    EXPECT_EQ(ParseTpuGeneration(info.name), info.generation);
    EXPECT_EQ(GetTpuGenerationInfo(info.generation).name, info.name);
  }
  EXPECT_EQ(i, 7);
  EXPECT_EQ(ParseTpuGeneration("v7"), std::nullopt);
  EXPECT_EQ(ParseTpuGeneration(""), std::nullopt);
}

TEST(TpuTilingTest, ExamplesOfTheHeader) {
  EXPECT_EQ(Choose("bf16[8,1,1280,16384]{3,2,0,1}", "v5e"), "{3,2,0,1:T(8,128)(2,1)}");
  EXPECT_EQ(Choose("f32[3,5]{1,0}", "v3"), "{1,0:T(4,128)}");
  EXPECT_EQ(Choose("f32[3,5]{1,0}", "v5e"), "{1,0:T(4,128)}");
  EXPECT_EQ(Choose("s4[100]{0}", "v5e"), "{0:T(1024)(128)(8,1)E(4)}");
  EXPECT_EQ(Choose("s4[100]{0}", "v3"), "{0:T(1024)(128)(4,1)}");
}

TEST(TpuTilingTest, Rule) {
  EXPECT_EQ(Choose("f32[1,5]", "v4"), "{1,0:T(1,128)}");
  EXPECT_EQ(Choose("f32[1,5]", "v2"), "{1,0:T(2,128)}");
  EXPECT_EQ(Choose("c128[100,5]", "v4"), "{1,0:T(8,128)}");
  EXPECT_EQ(Choose("s8[64,256]", "v6e"), "{1,0:T(32,128)(4,1)}");
  EXPECT_EQ(Choose("s8[65,256]", "v6e"), "{1,0:T(8,128)(4,1)}");
  EXPECT_EQ(Choose("s8[64,256]", "v3"), "{1,0:T(8,128)(4,1)}");
  EXPECT_EQ(Choose("u4[128,256]", "tpu7x"), "{1,0:T(64,128)(8,1)E(4)}");
  EXPECT_EQ(Choose("f32[4611686018427387904]", "v4"), "{0:T(1024)}");
  EXPECT_EQ(Choose("pred[]", "v4"), "{:T(512)}");
  EXPECT_EQ(Choose("f32[0,3]", "v4"), "{1,0}");
  EXPECT_EQ(Choose("f32[<=3,5]{0,1:T(2,2)S(1)}", "v4"), "{0,1:T(8,128)S(1)}");  // 5 is the second most minor
  EXPECT_EQ(Choose("b(f32[3,5])", "v4"), "{1,0:T(4,128)}");
}

TEST(TpuTilingTest, Refuses) {
  EXPECT_THAT(ChooseTpuLayout(*ParseShape("(f32[2])"), TpuGeneration::kV4).status().message(),
              HasSubstr("only an array"));
  EXPECT_THAT(ChooseTpuLayout(*ParseShape("f32[?,2]"), TpuGeneration::kV4).status().message(),
              HasSubstr("unknown size"));
  EXPECT_THAT(ChooseTpuLayout(*ParseShape("f32[2]{1}"), TpuGeneration::kV4).status().message(),
              HasSubstr("out-of-bounds"));
}

// The share of shapes for which the rule gives exactly the compiler's choice: the figures of the header.
TEST(TpuTilingTest, PredictsTheCompilersChoice) {
  struct Count {
    int right = 0;
    int all = 0;
  };
  std::map<std::string, Count> counts;
  for (const TpuShapeRow& row : ReadTpuShapes()) {
    if (!row.shape.IsArray()) continue;
    const Layout& chosen = row.shape.layout();
    const int64_t space = chosen.memory_space();
    if (space != 0 && space != 1 && space != 3) continue;
    // The texts of some values inside programs leave the tile out. Arrays without elements really have none.
    const absl::Span<const int64_t> sizes = row.shape.dimensions();
    const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    if (chosen.tiles_size() == 0 && !is_empty) continue;
    Layout want = chosen;
    want.clear_split_configs();
    Shape bare = row.shape;
    bare.mutable_layout()->clear_tiles().set_element_size_in_bits(0);
    bare.mutable_layout()->clear_split_configs();
    const absl::StatusOr<Layout> layout = ChooseTpuLayout(bare, *ParseTpuGeneration(row.generation));
    ASSERT_TRUE(layout.ok()) << layout.status();
    Count& count = counts[row.generation];
    ++count.all;
    count.right += *layout == want;
  }
  const auto misses = [&](const std::string& generation) { return counts[generation].all - counts[generation].right; };
  for (const auto& [generation, count] : counts) {
    RecordProperty(generation, std::to_string(count.right) + " of " + std::to_string(count.all));
    EXPECT_GT(count.all, 600);
  }
  EXPECT_EQ(misses("v2"), 0);
  EXPECT_EQ(misses("v3"), 0);
  EXPECT_EQ(misses("v4"), 2);
  EXPECT_EQ(misses("v5e"), 14);
  EXPECT_EQ(misses("v5p"), 8);
  EXPECT_EQ(misses("v6e"), 7);
  EXPECT_EQ(misses("tpu7x"), 18);
}

TEST(TpuTilingTest, TupleTable) {
  EXPECT_EQ(TupleTableBytes(0, TpuGeneration::kV2), 0);
  EXPECT_EQ(TupleTableBytes(1, TpuGeneration::kV2), 1024);
  EXPECT_EQ(TupleTableBytes(257, TpuGeneration::kV3), 2048);
  EXPECT_EQ(TupleTableBytes(128, TpuGeneration::kV4), 512);
  EXPECT_EQ(TupleTableBytes(129, TpuGeneration::kV5e), 1024);
  EXPECT_EQ(TupleTableBytes(8, TpuGeneration::kV5p), 32);
  EXPECT_EQ(TupleTableBytes(9, TpuGeneration::kTpu7x), 64);
}

}  // namespace
}  // namespace kashi::array
