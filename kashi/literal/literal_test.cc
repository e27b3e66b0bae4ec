#include "kashi/literal/literal.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/array.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::literal {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_oracle::AllIndices;
using testing_oracle::Position;
using testing_oracle::R1;
using testing_oracle::Random;

// ---------------------------------------------------------------------------------------------------- shape and memory

TEST(LiteralTest, MemoryFollowsTheLayoutNotItsDetails) {
  EXPECT_EQ(Literal(array::S("s4[8]{0:E(4)}")).size_bytes(), 8);
  EXPECT_EQ(Literal(array::S("s4[8]{0:E(4)}")).shape(), array::S("s4[8]{0}"));
  EXPECT_EQ(Literal(array::S("f32[5]{0:T(128)}")).size_bytes(), 20);
  EXPECT_EQ(Literal(array::S("f32[5]{0:T(128)}")).shape(), array::S("f32[5]{0:T(128)}"));
  EXPECT_EQ(Literal(array::S("c128[]")).size_bytes(), 16);
  EXPECT_EQ(Literal(array::S("token[]")).size_bytes(), 0);
  EXPECT_EQ(Literal(array::S("token[]")).element_count(), 0);
  const Shape no_layout(F32, {2, 3});
  EXPECT_EQ(Literal(no_layout).shape(), array::S("f32[2,3]{1,0}"));
  EXPECT_EQ(Literal(Shape(std::vector<Shape>{no_layout})).shape(), array::S("(f32[2,3]{1,0})"));

  Literal literal(array::S("s32[2,3]{0,1}"));
  literal.PopulateR2<int32_t>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_THAT(literal.data<int32_t>(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(LiteralTest, LargeBuffersAreAligned) {
  for (int64_t size : {1, 7, 24, 25, 64, 1000}) {
    const Literal literal(ShapeUtil::MakeShape(U8, {size}));
    if (size > 24) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(literal.untyped_data()) % 64, 0);
    }
    EXPECT_EQ(literal.size_bytes(), size);
  }
}

TEST(LiteralTest, EveryTypeHasItsNativeOne) {
  primitive_util::ArrayTypeForEach([](auto type) {
    using NativeT = primitive_util::NativeTypeOf<type>;
    Literal literal = Literal::CreateFromShape(ShapeUtil::MakeShape(type, {3}));
    EXPECT_EQ(literal.size_bytes(), static_cast<int64_t>(3 * sizeof(NativeT)));
    literal.Set<NativeT>({1}, NativeT(1));
    EXPECT_EQ(literal.Get<NativeT>({1}), NativeT(1));
    EXPECT_EQ(literal.data<NativeT>()[1], NativeT(1));
  });
}

TEST(LiteralTest, WrongTypesAndIndicesDie) {
  const Literal literal = Literal::CreateFromShape(array::S("(s32[2], token[])"));
  EXPECT_DEATH(literal.data<float>({0}), "s32\\[2\\].*asked for as f32");
  EXPECT_DEATH(literal.data<uint32_t>({0}), "asked for as u32");
  EXPECT_DEATH(literal.untyped_data({1}), "no elements");
  EXPECT_DEATH(literal.untyped_data({2}), "no element \\{2\\}");
  EXPECT_DEATH(literal.untyped_data({0, 0}), "no element \\{0,0\\}");
  EXPECT_DEATH(literal.size_bytes(), "tuple");
  EXPECT_DEATH(literal.Get<int32_t>({0, 0}, {0}), "index of 2");
  EXPECT_DEATH(Literal::CreateFromShape(array::S("s32[0]")).GetFirstElement<int32_t>(), "s32");
}

TEST(LiteralTest, MakeRefusesWhatCannotBe) {
  const auto code = [](absl::string_view shape) { return Literal::Make(array::S(shape)).status().code(); };
  EXPECT_EQ(code("f32[1099511627776]"), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("(s8[], u8[1099511627776])"), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code("f32[2,?]"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Literal::Make(Shape()).status().code(), absl::StatusCode::kInvalidArgument);
  Shape overflow(F32, {int64_t{1} << 62, 2, 0});
  EXPECT_EQ(Literal::Make(overflow).status().code(), absl::StatusCode::kResourceExhausted);
  Shape empty(F32, {0, int64_t{1} << 62, 4});
  EXPECT_EQ(Literal::Make(empty).status().code(), absl::StatusCode::kResourceExhausted) << "its strides overflow";
  Shape other_rank(F32, {2, 3});
  *other_rank.mutable_layout() = LayoutUtil::MakeLayout({0});
  EXPECT_EQ(Literal::Make(other_rank).status().code(), absl::StatusCode::kInvalidArgument);
  *other_rank.mutable_layout() = LayoutUtil::MakeLayout({1, 1});
  EXPECT_EQ(Literal::Make(other_rank).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_DEATH(Literal(array::S("f32[2,?]")), "bounded dimensions");
  EXPECT_TRUE(Literal::Make(array::S("(f32[2], opaque[], token[], b(f32[8]{0}))")).ok());
}

TEST(LiteralTest, WithoutMemory) {
  const Literal literal(array::S("(f32[2], token[])"), /*allocate_arrays=*/false);
  EXPECT_TRUE(literal.IsKnown());
  EXPECT_DEATH(literal.data<float>({0}), "there are no elements of f32\\[2\\]");
}

TEST(LiteralTest, UnknownAndUndetermined) {
  const Literal unknown = Literal::CreateFromShapeWithUnknownLeafArrays(array::S("(f32[2], token[])"));
  EXPECT_FALSE(unknown.IsKnown());
  EXPECT_TRUE(unknown.IsDetermined());
  EXPECT_FALSE(unknown.IsKnown({0}));
  EXPECT_TRUE(unknown.IsKnown({1}));
  const Literal undetermined = Literal::CreateFromShapeWithUndeterminedLeafArrays(array::S("f32[2]"));
  EXPECT_FALSE(undetermined.IsKnown());
  EXPECT_FALSE(undetermined.IsDetermined());
  EXPECT_DEATH(undetermined.Get<float>({0}), "unknown");
  const Shape huge = array::S("f32[1099511627776]");
  EXPECT_EQ(Literal::CreateFromShapeWithUnknownLeafArrays(huge).shape(), huge) << "needs no memory";
  EXPECT_NE(unknown, undetermined);
  EXPECT_EQ(unknown, unknown.Clone());
  EXPECT_FALSE(unknown.Clone().IsKnown({0}));
  EXPECT_FALSE(undetermined.Convert(S8)->IsDetermined());
}

TEST(LiteralTest, CreateFromShapeIsZero) {
  const Literal literal = Literal::CreateFromShape(array::S("(s32[100], (pred[], f64[3]))"));
  EXPECT_THAT(literal.data<int32_t>({0}), Each(0));
  EXPECT_FALSE(literal.Get<bool>({}, {1, 0}));
  EXPECT_THAT(literal.data<double>({1, 1}), Each(0));
}

// --------------------------------------------------------------------------------------------------------------- moves

TEST(LiteralTest, MovedFromIsAnEmptyTuple) {
  Literal small = R1<int8_t>({1, 2, 3}), large = R1<int64_t>({1, 2, 3, 4});
  const LiteralSlice view(small);
  Literal small_moved = std::move(small), large_moved(std::move(large));
  EXPECT_EQ(small.shape(), array::S("()"));
  EXPECT_EQ(large.shape(), array::S("()"));
  EXPECT_THAT(small_moved.data<int8_t>(), ElementsAre(1, 2, 3));
  EXPECT_EQ(view.Get<int8_t>({2}), 3) << "elements do not move";
  large = std::move(small_moved);
  EXPECT_THAT(large.data<int8_t>(), ElementsAre(1, 2, 3));
  large = std::move(*&large);
  EXPECT_EQ(large.element_count(), 3);
  EXPECT_EQ(Literal().shape(), array::S("()"));
}

TEST(LiteralTest, IntoTuplesAndOut) {
  std::vector<Literal> elements;
  elements.push_back(R1<float>({1, 2}));
  elements.push_back(R1<int64_t>({1, 2, 3, 4, 5}));
  elements.push_back(Literal());
  Literal tuple = Literal::MoveIntoTuple(absl::MakeSpan(elements));
  EXPECT_EQ(elements[0].shape(), array::S("()"));
  EXPECT_EQ(tuple.shape(), array::S("(f32[2]{0}, s64[5]{0}, ())"));
  EXPECT_THAT(tuple.data<int64_t>({1}), ElementsAre(1, 2, 3, 4, 5));

  Literal nested = Literal::MoveIntoTuple(absl::MakeSpan(&tuple, 1));
  EXPECT_THAT(nested.data<float>({0, 0}), ElementsAre(1, 2));
  Literal part = nested.SubLiteral({0, 1});
  EXPECT_THAT(part.data<int64_t>(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_DEATH(nested.untyped_data({0, 1}), "no elements");
  EXPECT_TRUE(nested.MoveFrom(std::move(part), {0, 1}).ok());
  EXPECT_EQ(part.shape(), array::S("()"));
  EXPECT_THAT(nested.data<int64_t>({0, 1}), ElementsAre(1, 2, 3, 4, 5));

  std::vector<Literal> outer = nested.DecomposeTuple();
  EXPECT_EQ(nested.shape(), array::S("()"));
  std::vector<Literal> inner = outer.at(0).DecomposeTuple();
  ASSERT_EQ(inner.size(), 3);
  EXPECT_EQ(inner[0], R1<float>({1, 2}));
  EXPECT_EQ(inner[1], R1<int64_t>({1, 2, 3, 4, 5}));
  EXPECT_EQ(inner[2].shape(), array::S("()"));
  EXPECT_DEATH(inner[0].DecomposeTuple(), "f32");
  EXPECT_TRUE(Literal().DecomposeTuple().empty());
}

TEST(LiteralTest, MoveFromNeedsEqualShapes) {
  Literal target = Literal::CreateFromShape(array::S("(f32[2,3]{1,0}, s8[])"));
  Literal other = Literal::CreateFromShape(array::S("f32[2,3]{0,1}"));
  const absl::Status status = target.MoveFrom(std::move(other), {0});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("f32[2,3]{1,0} vs f32[2,3]{0,1}"));
  EXPECT_EQ(other.shape(), array::S("f32[2,3]{0,1}"));
  EXPECT_TRUE(target.MoveFrom(Literal::CreateFromShape(array::S("(f32[2,3]{1,0}, s8[])"))).ok());
}

TEST(LiteralTest, TuplesAsDeepAsShapesMayBe) {
  const Shape shape = array::InTuples(array::S("s32[7]"), kMaxTupleDepth);
  const ShapeIndex leaf(kMaxTupleDepth, 0);
  Literal literal = Literal::CreateFromShape(shape);
  literal.Set<int32_t>({3}, leaf, 5);
  Literal copy = literal.Clone();
  EXPECT_TRUE(copy == literal);
  copy.Set<int32_t>({3}, leaf, 6);
  EXPECT_FALSE(copy == literal);
  EXPECT_TRUE(copy.CopyFrom(literal).ok());
  EXPECT_TRUE(copy == literal);
  EXPECT_TRUE(copy.IsKnown());
  EXPECT_GT(literal.ToStringOneline().size(), kMaxTupleDepth);
  EXPECT_EQ(copy.DecomposeTuple()[0].Get<int32_t>({3}, ShapeIndex(kMaxTupleDepth - 1, 0)), 5);
}

// --------------------------------------------------------------------------------------------------------------- views

TEST(LiteralViewsTest, Slices) {
  const Literal literal = Literal::CreateFromShape(array::S("(f32[2], (s8[3], pred[]))"));
  const LiteralSlice all = literal;
  const LiteralSlice inner(literal, {1});
  EXPECT_EQ(inner.shape(), array::S("(s8[3]{0}, pred[])"));
  EXPECT_EQ(LiteralSlice(inner, {0}).untyped_data(), literal.untyped_data({1, 0}));
  EXPECT_EQ(all, literal);
  EXPECT_EQ(LiteralSlice().shape(), array::S("()"));
  EXPECT_DEATH(LiteralSlice(literal, {2}), "no element");
}

TEST(LiteralViewsTest, BorrowedMemory) {
  const std::vector<int16_t> numbers = {1, 2, 3, 4, 5, 6};
  const float real = 2.5;
  const char* memory = reinterpret_cast<const char*>(numbers.data());
  const BorrowingLiteral array(memory, array::S("s16[2,3]{0,1}"));
  EXPECT_EQ(array.Get<int16_t>({1, 2}), 6);
  EXPECT_EQ(array.Get<int16_t>({0, 1}), 3);
  EXPECT_EQ(array.untyped_data(), numbers.data());
  const BorrowingLiteral tuple({memory, reinterpret_cast<const char*>(&real)}, array::S("(s16[6], f32[])"));
  EXPECT_EQ(tuple.Get<float>({}, {1}), 2.5);

  ShapeTree<const char*> tree(array::S("((s16[6]), f32[])"), nullptr);
  *tree.mutable_element({0, 0}) = memory;
  *tree.mutable_element({1}) = reinterpret_cast<const char*>(&real);
  BorrowingLiteral nested(tree);
  const BorrowingLiteral moved = std::move(nested);
  EXPECT_EQ(moved.Get<int16_t>({5}, {0, 0}), 6);
  EXPECT_EQ(moved.Get<float>({}, {1}), 2.5);
  EXPECT_EQ(BorrowingLiteral().shape(), array::S("()"));
}

TEST(LiteralViewsTest, BorrowedMemoryOfADynamicShapeHoldsItsSizes) {
  // Three elements of one byte, a byte of padding, two sizes.
  const std::vector<int32_t> words = {0x00030201, 1, 2};
  const BorrowingLiteral literal(reinterpret_cast<const char*>(words.data()), array::S("u8[1,<=3]"));
  EXPECT_EQ(literal.GetDynamicSize(0), 1);
  EXPECT_EQ(literal.GetDynamicSize(1), 2);
  EXPECT_EQ(literal.GetAsString({0, 2}), "3");
}

TEST(LiteralViewsTest, MutableBorrowing) {
  Literal literal = Literal::CreateFromShape(array::S("(f32[2], s8[30])"));
  MutableBorrowingLiteral all(&literal);
  all.Set<float>({1}, {0}, 3);
  MutableBorrowingLiteral part(all, {1});
  part.Set<int8_t>({29}, 4);
  MutableBorrowingLiteral copy = part;
  copy.Set<int8_t>({28}, 5);
  copy = all;
  EXPECT_EQ(copy.shape(), literal.shape());
  EXPECT_EQ(literal.Get<float>({1}, {0}), 3);
  EXPECT_EQ(literal.Get<int8_t>({29}, {1}), 4);
  EXPECT_EQ(literal.Get<int8_t>({28}, {1}), 5);

  std::vector<int32_t> a(4), b(1);
  char* const addresses[] = {reinterpret_cast<char*>(a.data()), reinterpret_cast<char*>(b.data())};
  MutableBorrowingLiteral array(addresses[0], array::S("s32[2,2]"));
  array.PopulateR2<int32_t>({{1, 2}, {3, 4}});
  EXPECT_THAT(a, ElementsAre(1, 2, 3, 4));
  std::vector<char*> list(addresses, addresses + 2);
  MutableBorrowingLiteral tuple(absl::MakeSpan(list), array::S("(s32[4], s32[])"));
  tuple.Set<int32_t>({}, {1}, 9);
  EXPECT_EQ(b[0], 9);
  ShapeTree<char*> tree(array::S("((s32[4]), s32[])"), nullptr);
  *tree.mutable_element({0, 0}) = addresses[0];
  *tree.mutable_element({1}) = addresses[1];
  MutableBorrowingLiteral nested(tree);
  nested.Set<int32_t>({0}, {0, 0}, 8);
  EXPECT_EQ(a[0], 8);
  EXPECT_EQ(MutableBorrowingLiteral().shape(), array::S("()"));
}

// -------------------------------------------------------------------------------------------------- dynamic dimensions

TEST(LiteralDynamicTest, Sizes) {
  Literal literal = Literal::CreateFromShape(array::S("s32[3,<=4]"));
  EXPECT_EQ(literal.GetDynamicSize(0), 3);
  EXPECT_EQ(literal.GetDynamicSize(1), 4);
  literal.SetDynamicSize(1, 2);
  EXPECT_EQ(literal.GetDynamicSize(1), 2);
  EXPECT_EQ(literal.element_count(), 12) << "of the bound";
  literal.SetDynamicSize(0, 1);
  EXPECT_EQ(literal.shape(), array::S("s32[<=3,<=4]")) << "setting a size makes a dimension dynamic";
  EXPECT_EQ(literal.GetDynamicSize(0), 1);
  EXPECT_EQ(literal.Clone().GetDynamicSize(0), 1);
  EXPECT_DEATH(literal.SetDynamicSize(0, 4), "4 for");
  EXPECT_DEATH(literal.SetDynamicSize(0, -1), "-1 for");
  EXPECT_DEATH(literal.SetDynamicSize(2, 1), "2 of");
  Literal tuple = Literal::CreateFromShape(array::S("(s32[3,<=4])"));
  tuple.SetDynamicSize(1, {0}, 0);
  EXPECT_EQ(tuple.GetDynamicSize(1, {0}), 0);
}

TEST(LiteralDynamicTest, SizesBeyond32BitsOfStaticDimensions) {
  const Literal literal(array::S("(u8[8589934592,0])"));
  EXPECT_EQ(literal.element_count({0}), 0);
  int visits = 0;
  LiteralSlice(literal, {0}).EachCell<uint8_t>([&](absl::Span<const int64_t>, uint8_t) { ++visits; });
  EXPECT_EQ(visits, 0);
}

// ------------------------------------------------------------------------------------------------------------- filling

TEST(LiteralPopulateTest, FromLists) {
  Literal bools(array::S("pred[3]"));
  bools.PopulateR1<bool>({true, false, true});
  EXPECT_THAT(bools.data<bool>(), ElementsAre(true, false, true));
  Literal pred2(array::S("pred[2,2]{0,1}"));
  pred2.PopulateR2<bool>({{true, false}, {true, true}});
  EXPECT_THAT(pred2.data<bool>(), ElementsAre(true, true, false, true));
  Literal empty(array::S("s8[0,0]"));
  empty.PopulateR2<int8_t>({});
  EXPECT_DEATH(bools.PopulateR1<bool>({true}), "for a literal pred\\[3\\]");
  EXPECT_DEATH(bools.PopulateR1<int8_t>({1, 2, 3}), "as s8");
  EXPECT_DEATH(pred2.PopulateR2<bool>({{true}, {true, true}}), "different lengths");
  Literal full(array::S("f16[5]"));
  full.PopulateWithValue<half>(half(2));
  EXPECT_THAT(full.data<half>(), Each(half(2)));
}

// The value that every generator must write.
int64_t Expected(absl::Span<const int64_t> index) {
  int64_t value = 1;
  for (int64_t i : index) value = value * 41 + i;
  return value;
}

void ExpectGenerated(const Literal& literal, const std::string& how) {
  for (const std::vector<int64_t>& index : AllIndices(literal.shape().dimensions())) {
    ASSERT_EQ(literal.data<int64_t>()[Position(literal.shape(), index)], Expected(index)) << how << literal.shape();
  }
}

TEST(LiteralPopulateTest, Generators) {
  Random random(4);
  for (int i = 0; i < 60; ++i) {
    const Shape shape = random.Array(S64, random.Dimensions(4, i % 3 == 0 ? 5000 : 60));
    std::vector<int64_t> stored(ShapeUtil::ElementsIn(shape));
    for (const std::vector<int64_t>& index : AllIndices(shape.dimensions())) {
      stored[Position(shape, index)] = Expected(index);
    }
    const auto check = [&](const char* how, auto fill) {
      Literal literal = Literal::CreateFromShape(shape);
      ASSERT_TRUE(fill(&literal).ok());
      ExpectGenerated(literal, how);
    };
    using Index = absl::Span<const int64_t>;
    const auto write = [](void* at, int64_t value) { *static_cast<int64_t*>(at) = value; };
    check("Populate", [&](Literal* l) { return l->Populate<int64_t>([](Index index) { return Expected(index); }); });
    check("PopulateParallel",
          [&](Literal* l) { return l->PopulateParallel<int64_t>([](Index index, int) { return Expected(index); }); });
    check("PopulateLinear",
          [&](Literal* l) { return l->PopulateLinear<int64_t>([&](int64_t p) { return stored[p]; }); });
    check("PopulateLinearParallel",
          [&](Literal* l) { return l->PopulateLinearParallel<int64_t>([&](int64_t p, int) { return stored[p]; }); });
    check("PopulateInplace",
          [&](Literal* l) { return l->PopulateInplace([&](void* at, Index index) { write(at, Expected(index)); }); });
    check("PopulateInplaceParallel", [&](Literal* l) {
      return l->PopulateInplaceParallel([&](void* at, Index index, int) { write(at, Expected(index)); });
    });
    check("PopulateLinearInplace",
          [&](Literal* l) { return l->PopulateLinearInplace([&](void* at, int64_t p) { write(at, stored[p]); }); });
    check("PopulateLinearInplaceParallel", [&](Literal* l) {
      return l->PopulateLinearInplaceParallel([&](void* at, int64_t p, int) { write(at, stored[p]); });
    });
    check("MutableEachCell", [&](Literal* l) {
      std::vector<std::vector<int64_t>> order;
      l->MutableEachCell<int64_t>([&](Index index, int64_t value) {
        EXPECT_EQ(value, 0);
        order.emplace_back(index.begin(), index.end());
        return Expected(index);
      });
      EXPECT_EQ(order, AllIndices(shape.dimensions()));
      return absl::OkStatus();
    });
  }
}

TEST(LiteralPopulateTest, ThreadNumbers) {
  Literal small(array::S("s32[10]")), large(array::S("s32[100000]"));
  EXPECT_TRUE(small.PopulateParallel<int32_t>([](absl::Span<const int64_t>, int thread) { return thread; }).ok());
  EXPECT_THAT(small.data<int32_t>(), Each(-1));
  EXPECT_TRUE(large.PopulateLinearParallel<int32_t>([](int64_t, int thread) { return thread; }).ok());
  EXPECT_THAT(large.data<int32_t>(),
              Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(base::ParallelThreadCount()))));
}

TEST(LiteralPopulateTest, Errors) {
  const auto zero = [](absl::Span<const int64_t>) { return 0.0f; };
  EXPECT_FALSE(Literal(array::S("s32[2]")).Populate<float>(zero).ok());
  EXPECT_FALSE(Literal(array::S("(f32[2])")).Populate<float>(zero).ok());
  EXPECT_FALSE(Literal(array::S("(f32[2])")).PopulateLinearInplace([](void*, int64_t) {}).ok());
}

TEST(LiteralPopulateTest, MakesArraysKnown) {
  Literal literal = Literal::CreateFromShapeWithUnknownLeafArrays(array::S("f32[2]"));
  ASSERT_TRUE(literal.Populate<float>([](absl::Span<const int64_t> index) { return 1.0f + index[0]; }).ok());
  EXPECT_TRUE(literal.IsKnown());
  EXPECT_THAT(literal.data<float>(), ElementsAre(1, 2));
  literal = Literal::CreateFromShapeWithUndeterminedLeafArrays(array::S("f32[]"));
  literal.PopulateWithValue<float>(3);
  EXPECT_EQ(literal.Get<float>({}), 3);
}

TEST(LiteralPopulateTest, CurrentSizesCount) {
  Literal row = Literal::CreateFromShape(array::S("u32[<=4]"));
  row.SetDynamicSize(0, 2);
  row.PopulateR1<uint32_t>({7, 8});
  EXPECT_EQ(row.ToStringOneline(), "u32[<=4](2) {7, 8}");
  EXPECT_DEATH(row.PopulateR1<uint32_t>({7, 8, 9}), "current sizes");
  Literal table = Literal::CreateFromShape(array::S("u32[3,<=4]"));
  table.SetDynamicSize(1, 2);
  table.PopulateR2<uint32_t>({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(table.Get<uint32_t>({2, 1}), 6);
  table.PopulateFromArray(Array<uint32_t>({3, 2}, 9));
  EXPECT_THAT(table.data<uint32_t>(), ElementsAre(9, 9, 0, 0, 9, 9, 0, 0, 9, 9, 0, 0));
}

}  // namespace
}  // namespace kashi::literal
