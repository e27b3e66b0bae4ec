#include "xla/literal.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla/array2d.h"
#include "xla/hlo/testlib/test.h"
#include "xla/layout_util.h"
#include "xla/literal_util.h"
#include "xla/primitive_util.h"
#include "xla/shape_tree.h"
#include "xla/shape_util.h"
#include "xla/test_helpers.h"
#include "xla/tests/literal_test_util.h"
#include "xla/tsl/platform/statusor.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LiteralCompatTest : public ::testing::Test {
 protected:
  LiteralCompatTest()
      : dim0major_(LayoutUtil::MakeLayout({1, 0})),
        dim0minor_(LayoutUtil::MakeLayout({0, 1})),
        matrix_(LiteralUtil::CreateR2<float>({{1, 2, 3}, {4, 5, 6}})) {}

  Layout dim0major_;
  Layout dim0minor_;
  Literal matrix_;
};

TEST_F(LiteralCompatTest, Text) {
  EXPECT_EQ(matrix_.ToString(), "f32[2,3] {\n  { 1, 2, 3 },\n  { 4, 5, 6 }\n}");
  EXPECT_EQ(matrix_.ToStringOneline(), "f32[2,3] { { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(matrix_.ToStringWithLayoutOneline(), "f32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(LiteralUtil::CreateR1<bool>({true, false}).ToStringWithoutShape(), "{1, 0}");
  auto tuple = LiteralUtil::MakeTuple({&matrix_, &matrix_});
  EXPECT_THAT(tuple.ToStringOneline(), HasSubstr("}, f32[2,3]"));
}

TEST_F(LiteralCompatTest, Elements) {
  EXPECT_EQ(matrix_.Get<float>({1, 1}), 5);
  EXPECT_THAT(matrix_.data<float>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(matrix_.GetFirstElement<float>(), 1);
  EXPECT_EQ(matrix_.GetAsDouble({0, 2}), 3.0);
  EXPECT_EQ(matrix_.GetAsComplex128({0, 2}), complex128(3, 0));
  EXPECT_EQ(matrix_.GetSumAsDouble({0, 1, 2}), 6.0);
  EXPECT_TRUE(matrix_.IsEqualAt({1, 2}, 6));
  EXPECT_TRUE(matrix_.IsEqualAt({1, 2}, complex128(6, 0)));
  EXPECT_FALSE(matrix_.IsZero({0, 0}));
  matrix_.Set<float>({0, 0}, 0.0f);
  EXPECT_TRUE(matrix_.IsZero({0, 0}));
  EXPECT_EQ(matrix_.size_bytes(), 24);
  EXPECT_EQ(matrix_.element_count(), 6);
  float sum = 0;
  matrix_.EachCell<float>([&](absl::Span<const int64_t> indices, float value) { sum += value * indices[0]; });
  EXPECT_EQ(sum, 15);
  std::vector<std::string> cells;
  matrix_.EachCellAsString([&](absl::Span<const int64_t>, const std::string& value) { cells.push_back(value); });
  EXPECT_THAT(cells, ElementsAre("0", "2", "3", "4", "5", "6"));
}

TEST_F(LiteralCompatTest, IsAll) {
  EXPECT_TRUE(LiteralUtil::CreateR1<int8_t>({-1, -1}).IsAll(-1));
  EXPECT_FALSE(LiteralUtil::CreateR1<uint8_t>({255}).IsAll(-1));
  EXPECT_TRUE(LiteralUtil::CreateR0<bool>(true).IsAll(1));
  EXPECT_TRUE(LiteralUtil::CreateR1<half>({half(2.0f)}).IsAll(2));
  EXPECT_TRUE(LiteralUtil::CreateR1<bfloat16>({bfloat16(2.5f)}).IsAllFloat(2.5));
  EXPECT_TRUE(LiteralUtil::CreateR1<complex64>({complex64(8, 9)}).IsAllComplex({8, 9}));
  EXPECT_TRUE(LiteralUtil::CreateR2<int32_t>({{3, 3}, {3, 3}}).IsAllFirst());
  EXPECT_TRUE(LiteralUtil::CreateR1<int32_t>({0, 1, 2}).IsR1Iota());
  EXPECT_EQ(LiteralUtil::CreateR1<int32_t>({0, 2, 4}).IsR1StridedIota(), 2);
  EXPECT_EQ(LiteralUtil::CreateR1<float>({1, 2, 1}).CountEqual<float>(1), 2);
  EXPECT_TRUE(matrix_.IsAll(LiteralUtil::CreateR0<float>(1)) == false);
}

TEST_F(LiteralCompatTest, ConversionsAndCopies) {
  TF_ASSERT_OK_AND_ASSIGN(Literal ints, matrix_.Convert(S32));
  EXPECT_EQ(ints, LiteralUtil::CreateR2<int32_t>({{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(LiteralUtil::CreateR0<complex64>({1, 2}).Convert(F32).status().code(), absl::StatusCode::kUnimplemented);
  TF_ASSERT_OK_AND_ASSIGN(Literal bits, LiteralUtil::CreateR0<float>(1).BitcastConvert(ShapeUtil::MakeShape(U32, {})));
  EXPECT_EQ(bits.Get<uint32_t>({}), 0x3f800000u);

  Literal relaid = matrix_.Relayout(dim0minor_);
  EXPECT_THAT(relaid.data<float>(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_EQ(relaid, matrix_);
  EXPECT_FALSE(relaid.Equal(matrix_, /*layout_sensitive=*/true));
  TF_ASSERT_OK_AND_ASSIGN(Literal reshaped, relaid.Reshape({3, 2}));
  EXPECT_EQ(reshaped, LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(matrix_.Transpose({1, 0}), LiteralUtil::CreateR2<float>({{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(matrix_.Slice({0, 1}, {2, 2}), LiteralUtil::CreateR2<float>({{2}, {5}}));
  TF_ASSERT_OK_AND_ASSIGN(Literal broadcast,
                          LiteralUtil::CreateR1<int64_t>({1, 2}).Broadcast(ShapeUtil::MakeShape(S64, {2, 2}), {0}));
  EXPECT_EQ(broadcast, LiteralUtil::CreateR2<int64_t>({{1, 1}, {2, 2}}));
  EXPECT_EQ(LiteralUtil::CreateR1<int64_t>({1, 2}).Replicate<int64_t>(2),
            LiteralUtil::CreateR2<int64_t>({{1, 2}, {1, 2}}));

  Literal blank(matrix_.shape());
  TF_EXPECT_OK(blank.CopyFrom(matrix_));
  EXPECT_EQ(blank, matrix_);
  TF_EXPECT_OK(blank.CopySliceFrom(matrix_, {0, 0}, {1, 1}, {1, 2}));
  EXPECT_EQ(blank.Get<float>({1, 2}), 2);
  EXPECT_IS_NOT_OK(blank.CopyFrom(ints));
  std::unique_ptr<Literal> unique = matrix_.CloneToUnique();
  EXPECT_EQ(*unique, matrix_);
}

TEST_F(LiteralCompatTest, Populate) {
  Literal r2(ShapeUtil::MakeShape(U32, {2, 2}));
  r2.PopulateWithValue<uint32_t>(7);
  EXPECT_TRUE(r2.IsAll(7));
  r2.PopulateR2<uint32_t>({{1, 2}, {3, 4}});
  EXPECT_EQ(r2.Get<uint32_t>({1, 0}), 3u);
  r2.PopulateFromArray(Array2D<uint32_t>({{4, 3}, {2, 1}}));
  EXPECT_EQ(r2.Get<uint32_t>({1, 0}), 2u);
  TF_ASSERT_OK(r2.Populate<uint32_t>([](absl::Span<const int64_t> i) { return i[0] * 10 + i[1]; }));
  EXPECT_EQ(r2, LiteralUtil::CreateR2<uint32_t>({{0, 1}, {10, 11}}));
  TF_ASSERT_OK(r2.PopulateParallel<uint32_t>([](absl::Span<const int64_t> i, int) { return i[0]; }));
  TF_ASSERT_OK(r2.PopulateLinear<uint32_t>([](int64_t i) { return static_cast<uint32_t>(i); }));
  EXPECT_EQ(r2, LiteralUtil::CreateR2<uint32_t>({{0, 1}, {2, 3}}));
  EXPECT_TRUE(Literal::CreateFromShape(ShapeUtil::MakeShape(C64, {3})).IsAll(0));
}

TEST_F(LiteralCompatTest, Dynamic) {
  Literal literal = LiteralUtil::CreateR1<int32_t>({1, 2, 3});
  literal.SetDynamicSize(0, 2);
  EXPECT_EQ(literal.GetDynamicSize(0), 2);
  EXPECT_TRUE(literal.shape().is_dynamic());
  EXPECT_EQ(literal.ToString(), "s32[<=3](2) {1, 2}");
  EXPECT_EQ(literal.ToStatic(), LiteralUtil::CreateR1<int32_t>({1, 2}));
  EXPECT_DEATH(literal.SetDynamicSize(0, 4), "");
}

TEST_F(LiteralCompatTest, TuplesAndViews) {
  Literal scalar = LiteralUtil::CreateR0<int32_t>(42);
  Literal tuple = LiteralUtil::MakeTuple({&matrix_, &scalar});
  EXPECT_EQ(LiteralSlice(tuple, {1}), scalar);
  EXPECT_EQ(tuple.Get<int32_t>({}, {1}), 42);
  EXPECT_EQ(tuple.SubLiteral({1}), scalar);
  Literal again = LiteralUtil::MakeTuple({&matrix_, &scalar});
  std::vector<Literal> elements = again.DecomposeTuple();
  ASSERT_EQ(elements.size(), 2u);
  EXPECT_EQ(elements[0], matrix_);
  EXPECT_TRUE(ShapeUtil::IsEmptyTuple(again.shape()));
  Literal moved = Literal::MoveIntoTuple(absl::MakeSpan(elements));
  EXPECT_EQ(moved.shape().tuple_shapes().size(), 2u);
  Literal target(ShapeUtil::MakeTupleShape({scalar.shape()}));
  TF_ASSERT_OK(target.MoveFrom(std::move(scalar), {0}));
  EXPECT_EQ(target.Get<int32_t>({}, {0}), 42);

  const float raw[] = {1, 2, 3, 4, 5, 6};
  BorrowingLiteral borrowed(reinterpret_cast<const char*>(raw), matrix_.shape());
  EXPECT_EQ(matrix_, borrowed);
  MutableBorrowingLiteral writer(&matrix_);
  writer.Set<float>({0, 0}, 9);
  EXPECT_EQ(matrix_.Get<float>({0, 0}), 9);
}

TEST_F(LiteralCompatTest, StatesAndHash) {
  Literal unknown = Literal::CreateFromShapeWithUnknownLeafArrays(matrix_.shape());
  EXPECT_FALSE(unknown.IsKnown());
  EXPECT_TRUE(unknown.IsDetermined());
  EXPECT_FALSE(Literal::CreateFromShapeWithUndeterminedLeafArrays(matrix_.shape()).IsDetermined());
  EXPECT_EQ(absl::HashOf(LiteralBase::AbslHashable<false>(matrix_)),
            absl::HashOf(LiteralBase::AbslHashable<false>(matrix_.Relayout(dim0minor_))));
}

TEST_F(LiteralCompatTest, ShapeTree) {
  Shape shape = ShapeUtil::MakeTupleShape({matrix_.shape(), ShapeUtil::MakeScalarShape(S32)});
  ShapeTree<int> tree(shape, 1);
  *tree.mutable_element({1}) = 5;
  int sum = 0;
  tree.ForEachElement([&](const ShapeIndex&, int value) { sum += value; });
  EXPECT_EQ(sum, 7);
  EXPECT_EQ(tree.leaf_count(), 2);
}

}  // namespace
}  // namespace xla
