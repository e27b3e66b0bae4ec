#include "kashi/hlo/spmd/sharded_literal.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_parser.h"
#include "kashi/array/shape_util.h"
#include "kashi/hlo/attributes/hlo_sharding_text.h"
#include "kashi/hlo/spmd/shard_grid.h"
#include "kashi/literal/literal_util.h"

namespace kashi::hlo {
namespace {

HloSharding Parse(absl::string_view text) {
  absl::StatusOr<HloSharding> sharding = ParseSharding(text);
  EXPECT_TRUE(sharding.ok()) << text << ": " << sharding.status();
  return sharding.ok() ? *sharding : HloSharding::Replicate();
}

// 1, 2, 3, …: all elements differ from each other and from padding.
Literal Counted(const Shape& shape) {
  Literal literal(shape);
  for (const IndexedShape& leaf : ShapeUtil::GetLeafShapes(shape)) {
    if (!leaf.shape.IsArray()) continue;
    auto data = literal.data<int32_t>(leaf.index);
    std::iota(data.begin(), data.end(), 1);
  }
  return literal;
}

std::vector<LiteralSlice> Slices(const std::vector<Literal>& literals) { return {literals.begin(), literals.end()}; }

// "{1, 2, 3} {4, 5, 0}", or the error.
std::string Split(absl::string_view shape, absl::string_view sharding, int64_t devices) {
  const auto shards = SplitLiteral(Counted(ParseShape(shape).value()), Parse(sharding), devices);
  if (!shards.ok()) return std::string(shards.status().message());
  return absl::StrJoin(*shards, " ", [](std::string* out, const Literal& shard) {
    absl::StrAppend(out, shard.ToStringWithoutShapeOneline());
  });
}

TEST(ShardedLiteralTest, EachKindOfSharding) {
  EXPECT_EQ(Split("s32[2]", "{replicated}", 2), "{1, 2} {1, 2}");
  EXPECT_EQ(Split("s32[2]", "{maximal device=1}", 3), "{0, 0} {1, 2} {0, 0}");
  EXPECT_EQ(Split("s32[4]", "{devices=[2]<=[2]}", 2), "{1, 2} {3, 4}");
  EXPECT_EQ(Split("s32[4]", "{devices=[2]1,0}", 2), "{3, 4} {1, 2}");
  EXPECT_EQ(Split("s32[2,2]", "{devices=[2,2]<=[2,2]T(1,0)}", 4), "{ {1} } { {3} } { {2} } { {4} }");
  EXPECT_EQ(Split("s32[4]", "{devices=[2,2]<=[4] last_tile_dim_replicate}", 4), "{1, 2} {1, 2} {3, 4} {3, 4}");
  EXPECT_EQ(Split("s32[4]", "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", 4), "{1, 2} {3, 4} {1, 2} {3, 4}");
  EXPECT_EQ(Split("s32[2]", "{manual}", 2), "{1, 2} {1, 2}");
  EXPECT_EQ(Split("s32[]", "{replicated}", 2), "1 1");
  EXPECT_EQ(Split("s32[4]", "{mesh['a'=2,'b'=2], [{'b'}]}", 4), "{1, 2} {3, 4} {1, 2} {3, 4}");
}

TEST(ShardedLiteralTest, UnevenShardsArePaddedWithZeros) {
  EXPECT_EQ(Split("s32[5]", "{devices=[2]<=[2]}", 2), "{1, 2, 3} {4, 5, 0}");
  EXPECT_EQ(Split("s32[5]", "{devices=[4]<=[4]}", 4), "{1, 2} {3, 4} {5, 0} {0, 0}");
  EXPECT_EQ(Split("s32[1]", "{devices=[3]<=[3]}", 3), "{1} {0} {0}");
  EXPECT_EQ(Split("s32[0]", "{devices=[3]<=[3]}", 3), "{} {} {}");
}

TEST(ShardedLiteralTest, TuplesHaveAShardingForEachLeaf) {
  EXPECT_EQ(Split("(s32[2], s32[2])", "{{devices=[2]<=[2]}, {replicated}}", 2), "( {1}, {1, 2} ) ( {2}, {1, 2} )");
  EXPECT_EQ(Split("(s32[2], (s32[2], token[]))", "{{devices=[2]<=[2]}, {replicated}, {replicated}}", 2),
            "( {1}, ( {1, 2}, token ) ) ( {2}, ( {1, 2}, token ) )");
  EXPECT_EQ(Split("()", "{replicated}", 2), "(  ) (  )");
}

TEST(ShardedLiteralTest, WhatDoesNotFitIsAnError) {
  EXPECT_THAT(Split("s32[4]", "{devices=[2]<=[2]}", 4), testing::HasSubstr("tile_assignment should have 4 devices"));
  EXPECT_THAT(Split("s32[4]", "{devices=[2,1]<=[2]}", 2), testing::HasSubstr("different than the input rank"));
  EXPECT_THAT(Split("s32[4]", "{maximal device=2}", 2), testing::HasSubstr("device 2"));
  EXPECT_THAT(Split("s32[4]", "{unknown}", 2), testing::HasSubstr("does not say which device"));
  EXPECT_THAT(Split("s32[4]", "{unreduced}", 2), testing::HasSubstr("part of a sum"));
  EXPECT_THAT(Split("s32[4]", "{devices=[1,2]<=[2] last_tile_dims={unreduced}}", 2),
              testing::HasSubstr("part of a sum"));
  EXPECT_THAT(Split("(s32[2], s32[2])", "{{replicated}, {devices=[3]<=[3]}}", 2), testing::HasSubstr("at {1}: "));
  EXPECT_THAT(Split("(s32[2], s32[2])", "{{replicated}}", 2), testing::HasSubstr("leaves"));
  EXPECT_THAT(Split("s32[<=4]", "{replicated}", 2), testing::HasSubstr("dynamic dimensions"));
  EXPECT_THAT(Split("s32[4]", "{replicated}", 0), testing::HasSubstr("0 devices"));
}

// Every array of up to 3 x 5, under every order of the devices along each tile dimension and every subgroup at the end.
TEST(ShardedLiteralTest, JoinUndoesSplit) {
  const std::vector<std::string> forms = {"", " last_tile_dim_replicate", " last_tile_dims={manual}",
                                          " last_tile_dims={manual, replicated}",
                                          " last_tile_dims={replicated, manual}"};
  int64_t count = 0;
  for (int64_t rows = 0; rows <= 3; ++rows) {
    for (int64_t columns = 0; columns <= 5; ++columns) {
      for (const char* devices : {"<=[12]", "<=[3,4]T(1,0)", "<=[2,2,3]T(2,0,1)", "7,2,11,0,5,9,1,3,10,4,8,6"}) {
        for (const char* tiles : {"3,4", "4,3", "1,12", "12,1", "2,6", "6,2"}) {
          for (const int subgroups : {0, 1, 2}) {
            const std::vector<std::string> with = {forms.begin() + (subgroups == 0   ? 0
                                                                    : subgroups == 1 ? 1
                                                                                     : 3),
                                                   forms.begin() + (subgroups == 0   ? 1
                                                                    : subgroups == 1 ? 3
                                                                                     : 5)};
            for (const std::string& form : with) {
              const std::string more = subgroups == 0 ? "" : subgroups == 1 ? ",1" : ",1,1";
              const HloSharding sharding = Parse(absl::StrCat("{devices=[", tiles, more, "]", devices, form, "}"));
              for (const char* layout : {"{1,0}", "{0,1}"}) {
                const Literal whole =
                    Counted(ParseShape(absl::StrCat("s32[", rows, ",", columns, "]", layout)).value());
                const auto shards = SplitLiteral(whole, sharding, 12);
                ASSERT_TRUE(shards.ok()) << shards.status();
                const auto joined = JoinLiterals(Slices(*shards), sharding, whole.shape());
                ASSERT_TRUE(joined.ok()) << joined.status();
                ASSERT_EQ(*joined, whole) << sharding;
                ASSERT_EQ(joined->shape(), whole.shape()) << sharding;
                ++count;
              }
            }
          }
        }
      }
    }
  }
  EXPECT_GT(count, 2000);
}

// Groups of two devices each, along all places where the subgroup can stand in the order of the devices.
TEST(ShardedLiteralTest, JoinUndoesSplitInEachGroup) {
  for (const char* form : {"last_tile_dim_replicate", "last_tile_dims={manual}"}) {
    for (const char* devices : {"<=[8]", "<=[2,4]T(1,0)", "<=[2,2,2]T(2,1,0)", "<=[4,2]T(1,0)", "3,1,0,2,7,5,4,6"}) {
      for (const char* tiles : {"2,2,2", "4,1,2", "1,4,2", "1,2,4", "1,1,8", "2,1,4"}) {
        const HloSharding sharding = Parse(absl::StrCat("{devices=[", tiles, "]", devices, " ", form, "}"));
        const Literal whole = Counted(ParseShape("s32[5,3]").value());
        const auto shards = SplitLiteral(whole, sharding, 8);
        ASSERT_TRUE(shards.ok()) << shards.status();
        for (int64_t device = 0; device < 8; ++device) {
          EXPECT_EQ(JoinLiterals(Slices(*shards), sharding, whole.shape(), device).value(), whole) << sharding;
        }
        EXPECT_FALSE(FindDifferentCopy(Slices(*shards), sharding, whole.shape()).value().has_value());
      }
    }
  }
}

TEST(ShardedLiteralTest, AManualGroupHasAnArrayOfItsOwn) {
  const Literal a = LiteralUtil::CreateR1<int32_t>({1});
  const Literal b = LiteralUtil::CreateR1<int32_t>({2});
  const std::vector<LiteralSlice> shards = {a, b};
  const Shape whole = a.shape();
  EXPECT_EQ(JoinLiterals(shards, Parse("{manual}"), whole, 0).value(), a);
  EXPECT_EQ(JoinLiterals(shards, Parse("{manual}"), whole, 1).value(), b);
  EXPECT_FALSE(FindDifferentCopy(shards, Parse("{manual}"), whole).value().has_value());
  EXPECT_FALSE(JoinLiterals(shards, Parse("{manual}"), whole, 2).ok());
}

TEST(ShardedLiteralTest, CopiesThatDiffer) {
  const Literal a = LiteralUtil::CreateR1<int32_t>({1, 2, 3});
  const Literal b = LiteralUtil::CreateR1<int32_t>({4, 5, 6});
  const Literal c = LiteralUtil::CreateR1<int32_t>({4, 5, 7});
  const HloSharding sharding = Parse("{devices=[2,2]<=[4] last_tile_dim_replicate}");
  const std::vector<LiteralSlice> shards = {a, a, b, c};
  const auto found = FindDifferentCopy(shards, sharding, ShapeUtil::MakeShape(S32, {6})).value();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->ToString(), "devices 2 and 3 hold different copies");
  // Copies may differ in padding.
  EXPECT_FALSE(FindDifferentCopy(shards, sharding, ShapeUtil::MakeShape(S32, {5})).value().has_value());
  EXPECT_EQ(JoinLiterals(shards, sharding, ShapeUtil::MakeShape(S32, {5})).value(),
            LiteralUtil::CreateR1<int32_t>({1, 2, 3, 4, 5}));
}

TEST(ShardedLiteralTest, ShardsOfAnotherShapeAreAnError) {
  const Literal a = LiteralUtil::CreateR1<int32_t>({1, 2, 3});
  const std::vector<LiteralSlice> shards = {a, a};
  EXPECT_EQ(JoinLiterals(shards, Parse("{devices=[2]<=[2]}"), ShapeUtil::MakeShape(S32, {7})).status().message(),
            "device 0 has s32[3], but a shard is s32[4]");
}

TEST(ShardGridTest, WhereShardsLie) {
  const std::vector<int64_t> sizes = {5, 4};
  const ShardGrid grid = ShardGrid::Make(Parse("{devices=[2,1,2]<=[4] last_tile_dim_replicate}"), sizes, 4).value();
  EXPECT_EQ(absl::StrJoin(grid.shard_dimensions(), ","), "3,4");
  EXPECT_EQ(absl::StrJoin(grid.OffsetsOf(3), ","), "3,0");
  EXPECT_EQ(absl::StrJoin(grid.SizesOf(3), ","), "2,4");
  EXPECT_EQ(absl::StrJoin(grid.FirstHolders(), ","), "0,0,2,2");
  EXPECT_FALSE(grid.is_even());
  EXPECT_FALSE(ShardGrid::Make(Parse("{replicated}"), sizes, ShardGrid::kMaxDevices + 1).ok());
}

}  // namespace
}  // namespace kashi::hlo
