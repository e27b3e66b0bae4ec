#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::literal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_oracle::AllIndices;
using testing_oracle::ElementBytes;
using testing_oracle::Random;
using Index = std::vector<int64_t>;

Literal Iota(absl::string_view shape) {
  Literal literal(array::S(shape));
  int32_t next = 0;
  literal.MutableEachCell<int32_t>([&](absl::Span<const int64_t>, int32_t) { return next++; });
  return literal;
}

TEST(LiteralCopyTest, RelayoutAndClone) {
  Random random(11);
  for (int i = 0; i < 400; ++i) {
    const Shape shape = random.Array(random.Type(), random.Dimensions(5, 400));
    const Literal literal = random.Literal(shape);
    const Shape other = random.Array(shape.element_type(), shape.dimensions());
    const Literal result = literal.Relayout(other.layout());
    EXPECT_EQ(result.shape(), other);
    const Literal same = literal.Relayout(other);
    const Literal clone = literal.Clone();
    for (const Index& index : AllIndices(shape.dimensions())) {
      ASSERT_EQ(ElementBytes(result, index), ElementBytes(literal, index)) << shape << " to " << other;
      ASSERT_EQ(ElementBytes(same, index), ElementBytes(literal, index));
      ASSERT_EQ(ElementBytes(clone, index), ElementBytes(literal, index));
    }
  }
}

TEST(LiteralCopyTest, RelayoutOfTuples) {
  Literal tuple = Literal::CreateFromShape(array::S("(s32[2,3]{1,0}, s8[])"));
  tuple.Set<int32_t>({1, 0}, {0}, 7);
  const Literal one = tuple.Relayout(LayoutUtil::MakeLayout({0, 1}), {0});
  EXPECT_EQ(one.shape(), array::S("(s32[2,3]{0,1}, s8[])"));
  EXPECT_THAT(one.data<int32_t>({0}), ElementsAre(0, 7, 0, 0, 0, 0));
  EXPECT_EQ(one.Relayout(tuple.shape()), tuple);
  EXPECT_EQ(*tuple.CloneToUnique(), tuple);
  EXPECT_DEATH(tuple.Relayout(array::S("(s32[3,2], s8[])")), "not compatible");
  EXPECT_DEATH(tuple.Relayout(LayoutUtil::MakeLayout({0}), {0}), "");
}

TEST(LiteralCopyTest, CopyFrom) {
  Literal target = Literal::CreateFromShape(array::S("(s32[2,3]{0,1}, s8[40])"));
  Literal source = Literal::CreateFromShape(array::S("(s32[2,3]{1,0}, s8[40])"));
  std::fill_n(source.data<int8_t>({1}).begin(), 40, int8_t{3});
  source.Set<int32_t>({1, 0}, {0}, 4);
  EXPECT_TRUE(target.CopyFrom(source).ok());
  EXPECT_EQ(target, source);
  const Literal part = Iota("s32[2,3]");
  EXPECT_TRUE(target.CopyFrom(part, {0}).ok());
  EXPECT_EQ(target.Get<int32_t>({1, 2}, {0}), 5);
  Literal array(array::S("s8[40]"));
  EXPECT_TRUE(array.CopyFrom(source, {}, {1}).ok());
  EXPECT_THAT(array.data<int8_t>(), Each(3));
  const absl::Status status = target.CopyFrom(part, {1});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("s8[40] vs s32[2,3]"));
}

TEST(LiteralCopyTest, CopyFromTakesDynamicSizes) {
  Literal source = Iota("s32[4]");
  source.SetDynamicSize(0, 3);
  Literal target = Literal::CreateFromShape(array::S("s32[<=4]"));
  EXPECT_TRUE(target.CopyFrom(source).ok());
  EXPECT_EQ(target.GetDynamicSize(0), 3);
  EXPECT_EQ(target, source);
  EXPECT_TRUE(target.CopyFrom(Iota("s32[4]")).ok());
  EXPECT_EQ(target.GetDynamicSize(0), 3) << "a static source has no sizes to give";
}

TEST(LiteralCopyTest, BoundedAndStatic) {
  Literal bounded = Iota("s32[3,4]{0,1}");
  bounded.SetDynamicSize(1, 2);
  const Literal fixed = bounded.ToStatic();
  EXPECT_EQ(fixed.shape(), array::S("s32[3,2]{0,1}"));
  for (const Index& index : AllIndices({3, 2})) {
    EXPECT_EQ(fixed.Get<int32_t>(index), bounded.Get<int32_t>(index));
  }
  const Literal again = fixed.ToBoundedDynamic(array::S("s32[<=5,<=4]{1,0}"));
  EXPECT_EQ(again.shape(), array::S("s32[<=5,<=4]{1,0}"));
  EXPECT_EQ(again.GetDynamicSize(0), 3);
  EXPECT_EQ(again.GetDynamicSize(1), 2);
  EXPECT_EQ(again.ToStatic(), fixed);
  EXPECT_DEATH(fixed.ToBoundedDynamic(array::S("s32[<=2,<=4]")), "vs");

  Literal small = Literal::CreateFromShape(array::S("s32[3,2]"));
  EXPECT_FALSE(small.CopyFrom(bounded).ok());
  EXPECT_TRUE(small.CopyFrom(bounded, {}, {}, /*only_dynamic_bound=*/true).ok());
  EXPECT_EQ(small, fixed);
  EXPECT_FALSE(small.CopyFrom(Iota("s32[1,1]"), {}, {}, /*only_dynamic_bound=*/true).ok());
  EXPECT_FALSE(Literal(array::S("f32[3,2]")).CopyFrom(bounded, {}, {}, /*only_dynamic_bound=*/true).ok());
}

TEST(LiteralCopyTest, CopySliceFrom) {
  Random random(12);
  for (int i = 0; i < 200; ++i) {
    const PrimitiveType type = random.Type();
    const Index from_dimensions = random.Dimensions(4, 300);
    Index to_dimensions, from_base, to_base, size;
    for (int64_t bound : from_dimensions) {
      to_dimensions.push_back(random.Number(0, bound + 2));
      size.push_back(random.Number(0, std::min(bound, to_dimensions.back())));
      from_base.push_back(random.Number(0, bound - size.back()));
      to_base.push_back(random.Number(0, to_dimensions.back() - size.back()));
    }
    const Literal from = random.Literal(random.Array(type, from_dimensions));
    Literal to = random.Literal(random.Array(type, to_dimensions));
    const Literal before = to.Clone();
    ASSERT_TRUE(to.CopySliceFrom(from, from_base, to_base, size).ok());
    for (const Index& index : AllIndices(to_dimensions)) {
      Index source(index.size());
      bool inside = true;
      for (size_t d = 0; d < index.size(); ++d) {
        source[d] = index[d] - to_base[d] + from_base[d];
        inside = inside && index[d] >= to_base[d] && index[d] < to_base[d] + size[d];
      }
      ASSERT_EQ(ElementBytes(to, index), inside ? ElementBytes(from, source) : ElementBytes(before, index));
    }
  }
}

TEST(LiteralCopyTest, SliceWithinOneLiteralAndRefusals) {
  Literal literal = Iota("s32[5]");
  EXPECT_TRUE(literal.CopySliceFrom(literal, {0}, {1}, {4}).ok());
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(0, 0, 1, 2, 3));
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_FALSE(literal.CopySliceFrom(literal, {2}, {0}, {4}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(literal, {0}, {2}, {4}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(literal, {-1}, {0}, {1}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(literal, {0}, {0}, {-1}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(literal, {kMax}, {0}, {kMax}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(literal, {0, 0}, {0}, {1}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(Literal(array::S("f32[5]")), {0}, {0}, {1}).ok());
  EXPECT_FALSE(literal.CopySliceFrom(Literal(), {}, {}, {}).ok());

  EXPECT_TRUE(literal.CopyElementFrom(Iota("s32[2,2]"), {1, 1}, {4}).ok());
  EXPECT_EQ(literal.Get<int32_t>({4}), 3);
  EXPECT_FALSE(literal.CopyElementFrom(Iota("s32[2,2]"), {1, 2}, {4}).ok());
  EXPECT_FALSE(literal.CopyElementFrom(Iota("s32[2,2]"), {1, 1}, {5}).ok());
  EXPECT_FALSE(literal.CopyElementFrom(Literal(array::S("f32[]")), {}, {0}).ok());
}

TEST(LiteralCopyTest, Reshape) {
  Random random(13);
  for (int i = 0; i < 100; ++i) {
    Index dimensions = random.Dimensions(4, 300);
    const Literal literal = random.Literal(random.Array(random.Type(), dimensions));
    Index other = dimensions;
    if (other.size() >= 2) {
      other[0] *= other.back();
      other.pop_back();
    }
    other.insert(other.begin() + random.Number(0, static_cast<int64_t>(other.size())), 1);
    const absl::StatusOr<Literal> result = literal.Reshape(other);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->shape(), ShapeUtil::MakeShape(literal.shape().element_type(), other));
    const std::vector<Index> from = AllIndices(dimensions), to = AllIndices(other);
    ASSERT_EQ(from.size(), to.size());
    for (size_t k = 0; k < from.size(); ++k) ASSERT_EQ(ElementBytes(*result, to[k]), ElementBytes(literal, from[k]));
  }
  EXPECT_EQ(Iota("s32[6]").Reshape({4}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Iota("s32[6]").Reshape({-2, -3}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal().Reshape({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal(array::S("s32[<=6]")).Reshape({6}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(LiteralCopyTest, Broadcast) {
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    const PrimitiveType type = random.Type();
    const Index result_dimensions = random.Dimensions(4, 400);
    const int64_t rank = random.Number(0, static_cast<int64_t>(result_dimensions.size()));
    Index to = random.Permutation(static_cast<int64_t>(result_dimensions.size())), dimensions;
    to.resize(rank);
    for (int64_t d : to) dimensions.push_back(random.Number(0, 4) == 0 ? 1 : result_dimensions[d]);
    const Literal literal = random.Literal(random.Array(type, dimensions));
    const absl::StatusOr<Literal> result = literal.Broadcast(random.Array(type, result_dimensions), to);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const Index& index : AllIndices(result_dimensions)) {
      Index source;
      for (int64_t d = 0; d < rank; ++d) source.push_back(dimensions[d] == 1 ? 0 : index[to[d]]);
      ASSERT_EQ(ElementBytes(*result, index), ElementBytes(literal, source)) << literal.shape() << result->shape();
    }
  }
}

TEST(LiteralCopyTest, BroadcastRefusals) {
  const Literal literal = Iota("s32[2,3]");
  EXPECT_FALSE(literal.Broadcast(array::S("s32[2,3]"), {0}).ok());
  EXPECT_FALSE(literal.Broadcast(array::S("s32[2,3]"), {1, 0}).ok());
  EXPECT_FALSE(literal.Broadcast(array::S("s32[2,3]"), {0, 2}).ok());
  EXPECT_FALSE(literal.Broadcast(array::S("s32[2,3]"), {-1, 1}).ok());
  EXPECT_FALSE(Iota("s32[2,2]").Broadcast(array::S("s32[2,3]"), {0, 0}).ok());
  EXPECT_FALSE(literal.Broadcast(array::S("f32[2,3]"), {0, 1}).ok());
  EXPECT_FALSE(Literal().Broadcast(array::S("f32[2,3]"), {}).ok());
  Literal dynamic = Iota("s32[3]");
  dynamic.SetDynamicSize(0, 2);
  EXPECT_EQ(dynamic.Broadcast(array::S("s32[2,<=3]"), {1})->GetDynamicSize(1), 2);
}

TEST(LiteralCopyTest, TransposeMovesNothing) {
  Random random(15);
  for (int i = 0; i < 100; ++i) {
    Literal literal = random.Literal(random.Array(random.Type(), random.Dimensions(4, 200)));
    const int64_t rank = literal.shape().dimensions_size();
    if (rank > 0 && random.Number(0, 3) == 0) literal.SetDynamicSize(0, 0);
    const Index permutation = random.Permutation(rank);
    const Literal result = literal.Transpose(permutation);
    ASSERT_EQ(result.size_bytes(), literal.size_bytes());
    EXPECT_EQ(memcmp(result.untyped_data(), literal.untyped_data(), literal.size_bytes()), 0);
    for (const Index& index : AllIndices(result.shape().dimensions())) {
      Index source(rank);
      for (int64_t d = 0; d < rank; ++d) source[permutation[d]] = index[d];
      ASSERT_EQ(ElementBytes(result, index), ElementBytes(literal, source));
    }
    for (int64_t d = 0; d < rank; ++d) EXPECT_EQ(result.GetDynamicSize(d), literal.GetDynamicSize(permutation[d]));
  }
  EXPECT_DEATH(Iota("s32[2,3]").Transpose({0, 0}), "");
  EXPECT_DEATH(Iota("s32[2,3]").Transpose({0}), "");
}

TEST(LiteralCopyTest, Slice) {
  Random random(16);
  for (int i = 0; i < 100; ++i) {
    const Literal literal = random.Literal(random.Array(random.Type(), random.Dimensions(4, 300)));
    Index start, limit, size;
    for (int64_t bound : literal.shape().dimensions()) {
      start.push_back(random.Number(0, bound));
      limit.push_back(random.Number(start.back(), bound));
      size.push_back(limit.back() - start.back());
    }
    const Literal result = literal.Slice(start, limit);
    EXPECT_EQ(result.shape().layout(), literal.shape().layout());
    EXPECT_EQ(result.shape().dimensions(), absl::MakeConstSpan(size));
    for (const Index& index : AllIndices(size)) {
      Index source = index;
      for (size_t d = 0; d < source.size(); ++d) source[d] += start[d];
      ASSERT_EQ(ElementBytes(result, index), ElementBytes(literal, source));
    }
  }
  EXPECT_DEATH(Iota("s32[5]").Slice({2}, {6}), "dimension 0");
  EXPECT_DEATH(Iota("s32[5]").Slice({2}, {1}), "dimension 0");
  EXPECT_DEATH(Iota("s32[5]").Slice({-1}, {1}), "dimension 0");
  Literal dynamic = Iota("s32[5]");
  dynamic.SetDynamicSize(0, 3);
  EXPECT_EQ(dynamic.Slice({1}, {5}).GetDynamicSize(0), 2);
  EXPECT_EQ(dynamic.Slice({4}, {5}).GetDynamicSize(0), 0);
  EXPECT_EQ(dynamic.Slice({0}, {2}).GetDynamicSize(0), 2);
}

TEST(LiteralCopyTest, Replicate) {
  const Literal result = Iota("s32[2,2]{0,1}").Replicate<int32_t>(3);
  EXPECT_EQ(result.shape(), array::S("s32[3,2,2]{2,1,0}"));
  EXPECT_THAT(result.data<int32_t>(), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_EQ(Iota("s32[2]").Replicate<int32_t>(0).shape(), array::S("s32[0,2]"));
  EXPECT_DEATH(Iota("s32[2]").Replicate<float>(1), "s32");
}

TEST(LiteralCopyTest, CopyFromTakesWhatIsNotKnown) {
  const Literal unknown = Literal::CreateFromShapeWithUnknownLeafArrays(array::S("s32[40]"));
  Literal tuple = Literal::CreateFromShape(array::S("(s32[], s32[40])"));
  ASSERT_TRUE(tuple.CopyFrom(unknown, {1}).ok());
  EXPECT_TRUE(tuple.IsKnown({0}));
  EXPECT_FALSE(tuple.IsKnown({1}));
  ASSERT_TRUE(tuple.CopyFrom(Iota("s32[40]"), {1}).ok());
  EXPECT_TRUE(tuple.IsKnown());
  EXPECT_EQ(tuple.Get<int32_t>({39}, {1}), 39);
  Literal bound = Literal::CreateFromShapeWithUndeterminedLeafArrays(array::S("s32[<=4]"));
  Literal source = Iota("s32[4]");
  source.SetDynamicSize(0, 2);
  ASSERT_TRUE(bound.CopyFrom(source, {}, {}, /*only_dynamic_bound=*/true).ok());
  EXPECT_EQ(bound.Get<int32_t>({1}), 1);
}

TEST(LiteralCopyTest, CopySliceFromScalarsAndToThem) {
  Literal array = Iota("s32[2,3]{0,1}");
  Literal scalar = Literal::CreateFromShape(array::S("s32[]"));
  ASSERT_TRUE(scalar.CopySliceFrom(array, {1, 2}, {}, {}).ok());
  EXPECT_EQ(scalar.Get<int32_t>({}), 5);
  ASSERT_TRUE(array.CopySliceFrom(scalar, {}, {0, 1}, {}).ok());
  EXPECT_EQ(array.Get<int32_t>({0, 1}), 5);
  EXPECT_FALSE(array.CopySliceFrom(array, {0, 0}, {0, 1}, {}).ok());
  EXPECT_FALSE(array.CopySliceFrom(scalar, {}, {2, 0}, {}).ok());
  EXPECT_FALSE(scalar.CopySliceFrom(array, {0, 0}, {}, {1, 1}).ok());
}

TEST(LiteralCopyTest, CopySliceFromAndIntoWhatIsNotKnown) {
  Literal unknown = Literal::CreateFromShapeWithUnknownLeafArrays(array::S("s32[2,3]"));
  Literal known = Iota("s32[2,3]");
  EXPECT_FALSE(known.CopySliceFrom(unknown, {0, 0}, {0, 0}, {1, 1}).ok());
  EXPECT_FALSE(known.CopyElementFrom(unknown, {0, 0}, {0, 0}).ok());
  ASSERT_TRUE(unknown.CopySliceFrom(known, {1, 0}, {0, 0}, {1, 3}).ok());
  EXPECT_TRUE(unknown.IsKnown());
  EXPECT_THAT(unknown.data<int32_t>(), ::testing::ElementsAre(3, 4, 5, 0, 0, 0));
}

}  // namespace
}  // namespace kashi::literal
