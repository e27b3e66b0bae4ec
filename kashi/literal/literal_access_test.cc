#include <initializer_list>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/literal/literal.h"
#include "kashi/literal/literal_oracle_testing.h"

namespace kashi::literal {
namespace {

using ::testing::ElementsAre;
using testing_oracle::AllIndices;
using testing_oracle::Position;
using testing_oracle::R0;
using testing_oracle::R1;
using testing_oracle::Random;

TEST(LiteralAccessTest, GetAndSetAtEveryIndex) {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    Literal literal(random.Array(S32, random.Dimensions(4, 100)));
    int32_t next = 0;
    for (const std::vector<int64_t>& index : AllIndices(literal.shape().dimensions())) {
      literal.Set<int32_t>(index, next);
      EXPECT_EQ(literal.data<int32_t>()[Position(literal.shape(), index)], next);
      EXPECT_EQ(literal.Get<int32_t>(index), next);
      EXPECT_EQ(literal.GetLinear<int32_t>(Position(literal.shape(), index)), next++);
    }
  }
}

TEST(LiteralAccessTest, AsOtherTypes) {
  EXPECT_EQ(R0<int8_t>(-3).GetIntegralAsS64({}), -3);
  EXPECT_EQ(R0<s4>(s4(-3)).GetIntegralAsS64({}), -3);
  EXPECT_EQ(R0<bool>(true).GetIntegralAsS64({}), 1);
  EXPECT_EQ(R0<uint64_t>(~uint64_t{0}).GetIntegralAsS64({}), -1);
  EXPECT_EQ(R0<float>(1).GetIntegralAsS64({}), std::nullopt);
  EXPECT_EQ(R0<bfloat16>(bfloat16(1.5f)).GetAsDouble({}), 1.5);
  EXPECT_EQ(R0<double>(1e300).GetAsDouble({}), 1e300);
  EXPECT_EQ(R0<int8_t>(1).GetAsDouble({}), std::nullopt);
  EXPECT_EQ(R0<complex64>({1, 2}).GetAsDouble({}), std::nullopt);
  EXPECT_EQ(R0<complex64>({1, 2}).GetAsComplex128({}), complex128(1, 2));
  EXPECT_EQ(R0<uint32_t>(7).GetAsComplex128({}), complex128(7, 0));
  EXPECT_EQ(R0<uint64_t>(7).GetAsComplex128({}), std::nullopt);
  EXPECT_EQ(R0<bool>(true).GetAsComplex128({}), std::nullopt);
  EXPECT_EQ(R1<float>({1, 2, 4, 8}).GetSumAsDouble({0, 3, 3}), 17);
  EXPECT_EQ(R1<int32_t>({1, 2}).GetSumAsDouble({0}), std::nullopt);
}

TEST(LiteralAccessTest, IsEqualAt) {
  EXPECT_TRUE(R0<int8_t>(-3).IsEqualAt({}, -3));
  EXPECT_TRUE(R0<int8_t>(-3).IsEqualAt({}, -3.0));
  EXPECT_TRUE(R0<complex64>({1, 2}).IsEqualAt({}, complex64(1, 2)));
  EXPECT_FALSE(R0<complex128>({1, 2}).IsEqualAt({}, complex64(1, 3)));
  EXPECT_FALSE(R0<int8_t>(-3).IsEqualAt({}, -3.5));
  EXPECT_TRUE(R0<float>(0.5).IsEqualAt({}, 0.5));
  EXPECT_TRUE(R0<int8_t>(2).IsEqualAt({}, complex128(2, 0)));
  EXPECT_FALSE(R0<int8_t>(2).IsEqualAt({}, complex128(2, 1)));
  EXPECT_TRUE(R0<complex64>({1, 2}).IsEqualAt({}, complex128(1, 2)));
  EXPECT_FALSE(R0<complex64>({1, 2}).IsEqualAt({}, 1));
  EXPECT_TRUE(R0<float>(-0.0f).IsZero({}));
  EXPECT_TRUE(R0<bool>(false).IsZero({}));
  EXPECT_FALSE(R0<complex128>({0, 1}).IsZero({}));
}

TEST(LiteralAccessTest, First) {
  EXPECT_EQ(R1<float>({3, 4}).GetFirstElement<float>(), 3);
  EXPECT_EQ(R1<int8_t>({3, 4}).GetFirstInteger(), 3);
  EXPECT_EQ(R1<uint64_t>({uint64_t{1} << 63}).GetFirstInteger(), std::nullopt);
  EXPECT_EQ(R1<uint64_t>({uint64_t{1} << 62}).GetFirstInteger(), int64_t{1} << 62);
  EXPECT_EQ(R1<int8_t>({}).GetFirstInteger(), std::nullopt);
  EXPECT_EQ(R1<float>({3}).GetFirstInteger(), std::nullopt);
  EXPECT_EQ(R0<bool>(true).GetFirstInteger(), std::nullopt);
  EXPECT_EQ(R1<uint8_t>({'a', 'b'}).GetR1U8AsString(), "ab");
}

TEST(LiteralAccessTest, SetFromOtherTypes) {
  Literal s2_literal = R0<s2>(s2(0));
  EXPECT_TRUE(s2_literal.SetIntegralAsS64({}, 7).ok());
  EXPECT_EQ(s2_literal.Get<s2>({}), s2(-1)) << "the low bits";
  Literal pred = R0<bool>(false);
  EXPECT_TRUE(pred.SetIntegralAsS64({}, 256).ok());
  EXPECT_TRUE(pred.Get<bool>({}));
  Literal u64_literal = R0<uint64_t>(0);
  EXPECT_TRUE(u64_literal.SetIntegralAsS64({}, -1).ok());
  EXPECT_EQ(u64_literal.Get<uint64_t>({}), ~uint64_t{0});
  Literal f8 = R0<float8_e5m2>(float8_e5m2(0.0f));
  EXPECT_EQ(f8.SetIntegralAsS64({}, 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(f8.SetFromDouble({}, 1e9).ok());
  EXPECT_TRUE(isinf(f8.Get<float8_e5m2>({})));
  Literal c64 = R0<complex64>({1, 1});
  EXPECT_TRUE(c64.SetFromDouble({}, 2.5).ok());
  EXPECT_EQ(c64.Get<complex64>({}), complex64(2.5, 0));
  EXPECT_EQ(s2_literal.SetFromDouble({}, 1).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(LiteralAccessTest, EachCellVisitsValidElementsInLogicalOrder) {
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    Literal literal = random.Literal(random.Array(U16, random.Dimensions(4, 200)));
    for (int d = 0; d < literal.shape().dimensions_size(); ++d) {
      if (random.Number(0, 3) != 0) continue;
      literal.SetDynamicSize(d, static_cast<int32_t>(random.Number(0, literal.shape().dimensions(d))));
    }
    DimensionVector sizes;
    for (int d = 0; d < literal.shape().dimensions_size(); ++d) sizes.push_back(literal.GetDynamicSize(d));
    std::vector<std::vector<int64_t>> visited;
    literal.EachCell<uint16_t>([&](absl::Span<const int64_t> index, uint16_t value) {
      EXPECT_EQ(value, literal.data<uint16_t>()[Position(literal.shape(), index)]);
      visited.emplace_back(index.begin(), index.end());
    });
    EXPECT_EQ(visited, AllIndices(sizes));
  }
}

TEST(LiteralAccessTest, EachCellStopsAndStrings) {
  const Literal literal = R1<int32_t>({5, 6, 7});
  std::vector<int32_t> seen;
  EXPECT_FALSE(literal.EachCellUntilFailure<int32_t>([&](absl::Span<const int64_t>, int32_t value) {
    seen.push_back(value);
    return value != 6;
  }));
  EXPECT_THAT(seen, ElementsAre(5, 6));
  EXPECT_TRUE(literal.EachCellUntilFailure<int32_t>([](absl::Span<const int64_t>, int32_t) { return true; }));
  std::vector<std::string> texts;
  Literal dynamic = literal.Clone();
  dynamic.SetDynamicSize(0, 1);
  dynamic.EachCellAsString([&](absl::Span<const int64_t>, const std::string& text) { texts.push_back(text); });
  EXPECT_THAT(texts, ElementsAre("5", "6", "7")) << "of the bound";
}

}  // namespace
}  // namespace kashi::literal
