#include "kashi/literal/fake_literal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/literal/literal.h"

namespace kashi::literal {
namespace {

template <typename T>
bool AllDifferent(const Literal& literal) {
  const auto elements = literal.data<T>();
  return std::set<T>(elements.begin(), elements.end()).size() == elements.size();
}

TEST(MakeFakeLiteralTest, EveryArrayType) {
  primitive_util::ArrayTypeForEach([](PrimitiveType type) {
    const Shape shape = ShapeUtil::MakeShape(type, {4, 25});
    const Literal literal = *MakeFakeLiteral(shape);
    EXPECT_EQ(literal.shape(), shape);
    EXPECT_EQ(literal, *MakeFakeLiteral(shape)) << "the same in every run";
    EXPECT_TRUE(MakeFakeLiteral(shape, /*pseudo_random=*/false)->IsAllFirst());
    EXPECT_TRUE(MakeFakeLiteral(shape, true, /*use_large_range=*/true).ok());
    // Hardly any of the narrowest formats has numbers in [-0.1, 0.2).
    if (!primitive_util::IsMXType(type)) {
      EXPECT_FALSE(literal.IsAllFirst()) << shape;
    }
  });
}

TEST(MakeFakeLiteralTest, TuplesTokensAndTheRest) {
  const Shape array = ShapeUtil::MakeShape(F32, {3});
  const Shape tuple =
      ShapeUtil::MakeTupleShape({array, ShapeUtil::MakeTokenShape(), ShapeUtil::MakeTupleShape({array})});
  const Literal literal = *MakeFakeLiteral(tuple);
  EXPECT_EQ(literal.shape(), tuple);
  EXPECT_NE(literal.Get<float>({0}, {0}), literal.Get<float>({0}, {2, 0}));
  EXPECT_EQ(MakeFakeLiteral(ShapeUtil::MakeShape(F32, {0, 3}))->element_count(), 0);
  EXPECT_EQ(MakeFakeLiteral(ShapeUtil::MakeOpaqueShape()).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(MakeFakeLiteralTest, Ranges) {
  const Literal small = *MakeFakeLiteral(ShapeUtil::MakeShape(F32, {100}));
  for (float value : small.data<float>()) {
    EXPECT_TRUE(value >= -0.1f && value <= 0.2f) << value;
  }
  const Literal large = *MakeFakeLiteral(ShapeUtil::MakeShape(F64, {1000}), true, /*use_large_range=*/true);
  const auto values = large.data<double>();
  EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }));
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](double x) { return x < -1e200; }));
  EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](double x) { return x > 0 && x < 1e-200; }));

  std::minstd_rand0 engine;
  const Literal limited = *MakeFakeLiteral(ShapeUtil::MakeShape(S32, {100}), &engine, std::make_pair(-2, 3), false,
                                           false, false, std::nullopt);
  for (int32_t value : limited.data<int32_t>()) EXPECT_TRUE(value >= -2 && value <= 3) << value;
  const Literal unsigned_one = *MakeFakeLiteral(ShapeUtil::MakeShape(U8, {100}), &engine, std::make_pair(-5, 1000),
                                                false, false, false, std::nullopt);
  EXPECT_TRUE(unsigned_one.shape().element_type() == U8 && !unsigned_one.IsAllFirst());
  EXPECT_TRUE(
      MakeFakeLiteral(ShapeUtil::MakeShape(S32, {4}), nullptr, std::make_pair(7, 9), false, false, false, std::nullopt)
          ->IsAll(7));
}

TEST(MakeFakeLiteralTest, SortedAndDifferent) {
  std::minstd_rand0 engine;
  const Literal permutation = *MakeFakeLiteral(ShapeUtil::MakeShape(S8, {256}), &engine, std::nullopt, false,
                                               /*no_duplicates=*/true, false, std::nullopt);
  EXPECT_TRUE(AllDifferent<int8_t>(permutation));
  const auto bytes = permutation.data<int8_t>();
  EXPECT_FALSE(std::is_sorted(bytes.begin(), bytes.end()));
  const Literal sorted = *MakeFakeLiteral(ShapeUtil::MakeShape(U64, {50}), &engine, std::make_pair(10, 60),
                                          /*is_sorted=*/true, /*no_duplicates=*/true, false, std::nullopt);
  EXPECT_TRUE(AllDifferent<uint64_t>(sorted));
  const auto numbers = sorted.data<uint64_t>();
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_TRUE(numbers.front() >= 10 && numbers.back() <= 60);
  EXPECT_TRUE(AllDifferent<float>(*MakeFakeLiteral(ShapeUtil::MakeShape(F32, {10000}), &engine, std::nullopt, false,
                                                   /*no_duplicates=*/true, false, std::nullopt)));
  // More elements than there are numbers: then some come twice.
  EXPECT_FALSE(AllDifferent<int8_t>(*MakeFakeLiteral(ShapeUtil::MakeShape(S8, {257}), &engine, std::nullopt, false,
                                                     /*no_duplicates=*/true, false, std::nullopt)));
}

TEST(MakeFakeLiteralTest, BitsOfPrecision) {
  std::minstd_rand0 engine;
  const Literal reals = *MakeFakeLiteral(ShapeUtil::MakeShape(F32, {100}), &engine, std::nullopt, false, false, false,
                                         /*max_bits_of_precision=*/8);
  EXPECT_EQ(reals, *reals.Convert(BF16)->Convert(F32));
  const Literal integers = *MakeFakeLiteral(ShapeUtil::MakeShape(S32, {100}), &engine, std::nullopt, false, false,
                                            false, /*max_bits_of_precision=*/3);
  for (int32_t value : integers.data<int32_t>()) {
    const double magnitude = std::abs(static_cast<double>(value));
    EXPECT_TRUE(value == 0 || std::fmod(magnitude, std::exp2(std::floor(std::log2(magnitude)) - 2)) == 0) << value;
  }
}

}  // namespace
}  // namespace kashi::literal
