#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_testing.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::literal {
namespace {

using testing_oracle::AllIndices;
using testing_oracle::R0;
using testing_oracle::R1;
using testing_oracle::Random;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(LiteralEqualTest, ByValueOverLayouts) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const Shape shape = random.Array(S16, random.Dimensions(4, 200));
    const Literal literal = random.Literal(shape);
    Literal other = literal.Relayout(random.Array(S16, shape.dimensions()).layout());
    EXPECT_TRUE(literal == other) << shape << other.shape();
    EXPECT_EQ(literal.Equal(other, /*layout_sensitive=*/true), shape.layout() == other.shape().layout());
    if (literal.element_count() == 0) continue;
    std::vector<int64_t> index;
    for (int64_t size : shape.dimensions()) index.push_back(random.Number(0, size - 1));
    other.Set<int16_t>(index, static_cast<int16_t>(~other.Get<int16_t>(index)));
    EXPECT_TRUE(literal != other) << shape << other.shape();
  }
}

TEST(LiteralEqualTest, BitsOnOnePathNumbersOnTheOther) {
  Literal a(array::S("f32[1,2]{1,0}")), b(array::S("f32[1,2]{1,0}"));
  a.PopulateR2<float>({{0.0f, 1}});
  b.PopulateR2<float>({{-0.0f, 1}});
  EXPECT_NE(a, b);
  EXPECT_EQ(a, b.Relayout(array::S("f32[1,2]{0,1}")));
  a.PopulateR2<float>({{kNan, 1}});
  EXPECT_EQ(a, a.Clone());
  EXPECT_NE(a, a.Relayout(array::S("f32[1,2]{0,1}")));
}

TEST(LiteralEqualTest, TypesRanksTrees) {
  EXPECT_NE(R1<int8_t>({1}), R1<uint8_t>({1}));
  EXPECT_NE(R0<int8_t>(1), R1<int8_t>({1}));
  EXPECT_NE(R1<int8_t>({}), R1<int8_t>({1}));
  EXPECT_EQ(Literal(), Literal::CreateFromShape(array::S("()")));
  EXPECT_NE(Literal(), Literal::CreateFromShape(array::S("(())")));
  EXPECT_EQ(Literal(array::S("token[]")), Literal(array::S("token[]")));
  EXPECT_NE(Literal(array::S("token[]")), Literal(array::S("opaque[]")));
  EXPECT_NE(Literal(array::S("token[]")), Literal());
  EXPECT_EQ(Literal::CreateFromShape(array::S("(s8[2], (s8[]))")),
            Literal::CreateFromShape(array::S("(s8[2], (s8[]))")));
  EXPECT_NE(Literal::CreateFromShape(array::S("(s8[2], (s8[]))")), Literal::CreateFromShape(array::S("(s8[2], s8[])")));
}

TEST(LiteralEqualTest, DynamicOnesByTheirValidElements) {
  Literal a = R1<int32_t>({1, 2, 3}), b = R1<int32_t>({1, 2, 4});
  a.SetDynamicSize(0, 2);
  b.SetDynamicSize(0, 2);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a, R1<int32_t>({1, 2})) << "a bound is no value";
  b.SetDynamicSize(0, 3);
  EXPECT_NE(a, b);
}

TEST(LiteralQueryTest, IsAll) {
  EXPECT_TRUE(R1<int32_t>({5, 5, 5}).IsAll(R0<int32_t>(5)));
  EXPECT_FALSE(R1<int32_t>({5, 5, 6}).IsAll(R0<int32_t>(5)));
  EXPECT_FALSE(R1<int32_t>({6, 5, 5}).IsAll(R0<int32_t>(5)));
  EXPECT_TRUE(R1<int32_t>({}).IsAll(R0<int32_t>(5)));
  EXPECT_TRUE(R1<float>({kNan, kNan}).IsAll(R0<float>(kNan)));
  EXPECT_FALSE(R1<float>({0.0f, -0.0f}).IsAll(R0<float>(0)));
  EXPECT_FALSE(Literal().IsAll(R0<float>(0)));
  EXPECT_DEATH(R1<int32_t>({1}).IsAll(R0<int64_t>(1)), "s32.*s64");
  EXPECT_DEATH(R1<int32_t>({1}).IsAll(R1<int32_t>({1})), "");
}

TEST(LiteralQueryTest, IsAllOfASmallInteger) {
  EXPECT_TRUE(R1<bool>({true, true}).IsAll(1));
  EXPECT_FALSE(R1<bool>({true, true}).IsAll(0));
  EXPECT_FALSE(R1<bool>({true, true}).IsAll(2));
  EXPECT_TRUE(R1<s4>({s4(-8)}).IsAll(-8));
  EXPECT_FALSE(R1<s4>({s4(-8)}).IsAll(8)) << "8 is no s4";
  EXPECT_FALSE(R1<uint8_t>({255}).IsAll(-1));
  EXPECT_FALSE(R1<uint64_t>({~uint64_t{0}}).IsAll(-1));
  EXPECT_TRUE(R1<uint64_t>({9}).IsAll(9));
  EXPECT_TRUE(R1<half>({half(3), half(3)}).IsAll(3));
  EXPECT_FALSE(R1<float8_e5m2>({float8_e5m2(16.0f)}).IsAll(17)) << "17 rounds to 16, but is not 16";
  EXPECT_FALSE(R1<float8_e8m0fnu>({float8_e8m0fnu(1.0f)}).IsAll(0));
  EXPECT_TRUE(R1<complex64>({{2, 0}}).IsAll(2));
  EXPECT_FALSE(R1<complex64>({{2, 1}}).IsAll(2));
  EXPECT_FALSE(Literal(array::S("token[]")).IsAll(0));
}

TEST(LiteralQueryTest, IsAllFloatAndComplex) {
  EXPECT_TRUE(R1<float>({0.1f, 0.1f}).IsAllFloat(0.1f));
  EXPECT_TRUE(R1<bfloat16>({bfloat16(0.1f)}).IsAllFloat(0.1f)) << "the value is rounded";
  EXPECT_FALSE(R1<float>({-0.0f}).IsAllFloat(0));
  EXPECT_FALSE(R1<int32_t>({1}).IsAllFloat(1));
  EXPECT_FALSE(R1<complex64>({{1, 0}}).IsAllFloat(1));
  EXPECT_TRUE(R1<complex128>({{1, 2}, {1, 2}}).IsAllComplex({1, 2}));
  EXPECT_FALSE(R1<complex64>({{1, 2}, {1, 3}}).IsAllComplex({1, 2}));
  EXPECT_FALSE(R1<float>({1}).IsAllComplex({1, 0}));
}

TEST(LiteralQueryTest, IsAllFirst) {
  EXPECT_TRUE(R0<double>(3).IsAllFirst());
  EXPECT_TRUE(R1<double>({3, 3, 3}).IsAllFirst());
  EXPECT_FALSE(R1<double>({3, 3, 4}).IsAllFirst());
  EXPECT_FALSE(R1<double>({}).IsAllFirst());
  EXPECT_FALSE(Literal().IsAllFirst());
  EXPECT_FALSE(R1<complex128>({{1, 2}, {1, 3}}).IsAllFirst());
}

TEST(LiteralQueryTest, Iotas) {
  EXPECT_TRUE(R1<uint8_t>({0, 1, 2}).IsR1Iota());
  EXPECT_TRUE(R1<half>({half(0), half(1), half(2)}).IsR1Iota());
  EXPECT_TRUE(R1<complex64>({{0, 0}, {1, 0}}).IsR1Iota());
  EXPECT_FALSE(R1<complex64>({{0, 0}, {1, 1}}).IsR1Iota());
  EXPECT_FALSE(R1<int32_t>({0, 2}).IsR1Iota());
  EXPECT_FALSE(R0<int32_t>(0).IsR1Iota());
  EXPECT_FALSE(R1<bool>({false, true}).IsR1Iota());
  EXPECT_TRUE(R1<u2>({u2(0), u2(1), u2(2), u2(3)}).IsR1Iota());
  EXPECT_FALSE(R1<u2>({u2(0), u2(1), u2(2), u2(3), u2(0)}).IsR1Iota()) << "4 is no u2";

  EXPECT_EQ(R1<int32_t>({0, 3, 6, 9}).IsR1StridedIota(), 3);
  EXPECT_EQ(R1<int8_t>({0, -2, -4}).IsR1StridedIota(), -2);
  EXPECT_EQ(R1<int32_t>({0, 3, 6, 8}).IsR1StridedIota(), std::nullopt);
  EXPECT_EQ(R1<int32_t>({1, 4, 7}).IsR1StridedIota(), std::nullopt);
  EXPECT_EQ(R1<int32_t>({0, 0, 0}).IsR1StridedIota(), std::nullopt);
  EXPECT_EQ(R1<int32_t>({0}).IsR1StridedIota(), std::nullopt);
  EXPECT_EQ(R1<float>({0, 3}).IsR1StridedIota(), std::nullopt);
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(R1<int64_t>({0, kMax}).IsR1StridedIota(), kMax);
  EXPECT_EQ(R1<int64_t>({0, kMax, -2}).IsR1StridedIota(), std::nullopt) << "2 * max does not wrap";
}

TEST(LiteralQueryTest, CountEqual) {
  EXPECT_EQ(R1<int32_t>({1, 2, 1}).CountEqual<int32_t>(1), 2);
  EXPECT_EQ(R1<float>({1, kNan, kNan}).CountEqual<float>(kNan), 2);
  EXPECT_EQ(R1<float>({0.0f, -0.0f}).CountEqual<int>(0), 2);
  EXPECT_EQ(R1<bfloat16>({bfloat16(0.1f)}).CountEqual<float>(0.1f), 1) << "the value is rounded";
  EXPECT_EQ(R1<int64_t>({std::numeric_limits<int64_t>::min()}).CountEqual(std::numeric_limits<int64_t>::min()), 1);
  EXPECT_EQ(R1<uint64_t>({~uint64_t{0}, 1}).CountEqual(~uint64_t{0}), 1);
  EXPECT_EQ(R1<bool>({true, false}).CountEqual<bool>(true), 1);
  EXPECT_EQ(R1<s4>({s4(-1), s4(1)}).CountEqual<s4>(s4(-1)), 1);
  EXPECT_EQ(R1<complex64>({{1, 2}, {1, 0}}).CountEqual(complex64(1, 2)), 1);
  EXPECT_EQ(R1<complex64>({{1, 2}, {1, 0}}).CountEqual<float>(1), 1);
  EXPECT_EQ(R1<float>({1}).CountEqual(complex64(1, 0)), 0);
  EXPECT_EQ(Literal().CountEqual<float>(1), 0);
}

template <bool kLayoutSensitive>
size_t HashOf(const LiteralBase& literal) {
  using Hashable = LiteralBase::AbslHashable<kLayoutSensitive>;
  return absl::Hash<Hashable>()(Hashable(literal));
}

TEST(LiteralHashTest, EqualOnesHashAlike) {
  Random random(8);
  for (int i = 0; i < 100; ++i) {
    const Shape shape = random.Array(random.Type(), random.Dimensions(4, 100));
    const Literal literal = random.Literal(shape);
    const Literal other = literal.Relayout(random.Array(shape.element_type(), shape.dimensions()).layout());
    EXPECT_EQ(HashOf<false>(literal), HashOf<false>(other));
    EXPECT_EQ(HashOf<true>(literal), HashOf<true>(literal.Clone()));
    EXPECT_EQ(HashOf<true>(literal) == HashOf<true>(other),
              literal.Equal(other, true) || shape.layout() == other.shape().layout());
  }
}

TEST(LiteralHashTest, DifferentOnesDoNot) {
  EXPECT_NE(HashOf<true>(R1<int32_t>({1, 2})), HashOf<true>(R1<int32_t>({1, 3})));
  EXPECT_NE(HashOf<true>(R1<int32_t>({1, 2})), HashOf<true>(R1<uint32_t>({1, 2})));
  EXPECT_NE(HashOf<true>(R0<int32_t>(1)), HashOf<true>(R1<int32_t>({1})));
  EXPECT_NE(HashOf<true>(Literal::CreateFromShape(array::S("s8[]"))),
            HashOf<true>(Literal::CreateFromShapeWithUnknownLeafArrays(array::S("s8[]"))));
}

TEST(LiteralHashTest, OnlyValidElementsCount) {
  Literal a = R1<int32_t>({1, 2, 3}), b = R1<int32_t>({1, 2, 4});
  a.SetDynamicSize(0, 2);
  b.SetDynamicSize(0, 2);
  EXPECT_EQ(HashOf<true>(a), HashOf<true>(b));
  b.SetDynamicSize(0, 3);
  EXPECT_NE(HashOf<true>(a), HashOf<true>(b));
}

struct FirstTwoBytes {
  const LiteralBase& literal;
  template <typename H>
  friend H AbslHashValue(H h, const FirstTwoBytes& x) {
    return LiteralBase::Hash<H, /*kIsLayoutSensitive=*/false, /*kByteLimit=*/2>(std::move(h), x.literal);
  }
};

TEST(LiteralHashTest, ByteLimit) {
  const auto hash = [](const Literal& literal) { return absl::Hash<FirstTwoBytes>()(FirstTwoBytes{literal}); };
  EXPECT_EQ(hash(R1<uint8_t>({1, 2, 3})), hash(R1<uint8_t>({1, 2, 4})));
  EXPECT_NE(hash(R1<uint8_t>({1, 2, 3})), hash(R1<uint8_t>({1, 3, 3})));
  Literal columns(array::S("u8[2,2]{0,1}")), other(array::S("u8[2,2]{0,1}"));
  columns.PopulateR2<uint8_t>({{1, 2}, {3, 4}});
  other.PopulateR2<uint8_t>({{1, 2}, {5, 6}});
  EXPECT_EQ(hash(columns), hash(other)) << "the first row, in logical order";
}

// A narrow integer is its low bits, whatever stands above them.
TEST(LiteralQueryTest, EqualityOfNarrowIntegersIgnoresSpareBits) {
  const char low[] = {0x02, 0x0e}, high[] = {0x72, static_cast<char>(0xfe)};
  const BorrowingLiteral a(low, array::S("s4[2]")), b(high, array::S("s4[2]"));
  EXPECT_EQ(a, b);
  EXPECT_NE(BorrowingLiteral(low, array::S("s8[2]")), BorrowingLiteral(high, array::S("s8[2]")));
  EXPECT_EQ(HashOf<true>(a), HashOf<true>(b)) << "what is equal has one hash";
  EXPECT_EQ(HashOf<false>(a), HashOf<false>(b));
  const char twos[] = {0x02, 0x72};
  const BorrowingLiteral same(twos, array::S("s4[2]"));
  EXPECT_TRUE(same.IsAll(2));
  EXPECT_TRUE(same.IsAllFirst());
  EXPECT_FALSE(same.IsAll(3));
}

TEST(LiteralQueryTest, NothingIsSaidOfElementsThatAreNotKnown) {
  for (const Literal& literal : {Literal::CreateFromShapeWithUnknownLeafArrays(array::S("f32[2]")),
                                 Literal::CreateFromShapeWithUndeterminedLeafArrays(array::S("f32[2]"))}) {
    EXPECT_FALSE(literal.IsAll(0));
    EXPECT_FALSE(literal.IsAllFloat(0));
    EXPECT_FALSE(literal.IsAllFirst());
    EXPECT_FALSE(literal.IsR1Iota());
    EXPECT_FALSE(literal.IsR1StridedIota().has_value());
  }
  EXPECT_FALSE(Literal::CreateFromShapeWithUnknownLeafArrays(array::S("s32[2]")).IsR1StridedIota().has_value());
}

}  // namespace
}  // namespace kashi::literal
