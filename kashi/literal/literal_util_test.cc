#include "kashi/literal/literal_util.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/array/layout_util.h"
#include "kashi/array/primitive_util.h"
#include "kashi/array/shape_util.h"
#include "kashi/array/types.h"
#include "kashi/literal/literal.h"

namespace kashi::literal {
namespace {

using ::testing::ElementsAre;

TEST(LiteralUtilTest, FromValues) {
  EXPECT_EQ(LiteralUtil::CreateR0<float>(42).ToString(), "f32[] 42");
  EXPECT_EQ(LiteralUtil::CreateR0(s4(-3)).ToString(), "s4[] -3");
  EXPECT_EQ(LiteralUtil::CreateR0(BF16, 2).ToString(), "bf16[] 2");
  EXPECT_EQ(LiteralUtil::CreateR0(C128, 2.5f).ToString(), "c128[] (2.5, 0)");
  EXPECT_EQ(LiteralUtil::CreateR0(C64, complex128(1, 2)).ToString(), "c64[] (1, 2)");
  EXPECT_EQ(LiteralUtil::CreateR0(PRED, 2).ToString(), "pred[] true");
  EXPECT_DEATH(LiteralUtil::CreateR0(TUPLE, 2), "");
  EXPECT_DEATH(LiteralUtil::CreateR0(F32, complex64(1, 2)), "complex");

  EXPECT_EQ(LiteralUtil::CreateR1<int32_t>({1, 2, 3}).ToString(), "s32[3] {1, 2, 3}");
  EXPECT_EQ(LiteralUtil::CreateR1<bool>({true, false}).ToString(), "pred[2] {1, 0}");
  EXPECT_EQ(LiteralUtil::CreateR1<float>({}).ToString(), "f32[0] {}");
  const std::vector<half> halves = {half(1.0f), half(0.5f)};
  EXPECT_EQ(LiteralUtil::CreateR1(absl::MakeConstSpan(halves)).ToString(), "f16[2] {1, 0.5}");
  EXPECT_EQ(LiteralUtil::CreateR1U8("AB").ToString(), "u8[2] {65, 66}");

  EXPECT_EQ(LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}}).ToString(), "f32[2,2] {\n  { 1, 2 },\n  { 3, 4 }\n}");
  EXPECT_EQ(LiteralUtil::CreateR3<int8_t>({{{1, 2}}, {{3, 4}}}).shape(), ShapeUtil::MakeShape(S8, {2, 1, 2}));
  EXPECT_EQ(LiteralUtil::CreateR4<double>({{{{1, 2, 3}}}}).shape(), ShapeUtil::MakeShape(F64, {1, 1, 1, 3}));
  EXPECT_DEATH(LiteralUtil::CreateR2<float>({{1, 2}, {3}}), "different sizes");
  EXPECT_EQ(LiteralUtil::CreateToken().ToString(), "token");
}

TEST(LiteralUtilTest, WithLayout) {
  const Literal column_major = LiteralUtil::CreateR2WithLayout<float>({{1, 2}, {3, 4}}, LayoutUtil::MakeLayout({0, 1}));
  EXPECT_THAT(column_major.data<float>(), ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(column_major, LiteralUtil::CreateR2<float>({{1, 2}, {3, 4}}));
  const Literal r3 = LiteralUtil::CreateR3WithLayout<int32_t>({{{1, 2}, {3, 4}}}, LayoutUtil::MakeLayout({1, 2, 0}));
  EXPECT_THAT(r3.data<int32_t>(), ElementsAre(1, 3, 2, 4));
  const Literal r4 =
      LiteralUtil::CreateR4WithLayout<int32_t>({{{{1, 2}, {3, 4}}}}, LayoutUtil::MakeLayout({2, 3, 1, 0}));
  EXPECT_THAT(r4.data<int32_t>(), ElementsAre(1, 3, 2, 4));
  EXPECT_DEATH(LiteralUtil::CreateR2WithLayout<float>({{1}}, LayoutUtil::MakeLayout({0})), "");
}

TEST(LiteralUtilTest, FromArrays) {
  const Array2D<int32_t> matrix({{1, 2}, {3, 4}});
  const Literal expected = LiteralUtil::CreateR2<int32_t>({{1, 2}, {3, 4}});
  EXPECT_EQ(LiteralUtil::CreateR2FromArray2D(matrix), expected);
  EXPECT_EQ(LiteralUtil::CreateFromArray<int32_t>(matrix), expected);
  EXPECT_THAT(LiteralUtil::CreateR2FromArray2DWithLayout(matrix, LayoutUtil::MakeLayout({0, 1})).data<int32_t>(),
              ElementsAre(1, 3, 2, 4));
  EXPECT_EQ(LiteralUtil::CreateFromArray(Array<int32_t>({2, 0})).shape(), ShapeUtil::MakeShape(S32, {2, 0}));
  Array3D<bfloat16> r3(2, 3, 4);
  r3.FillIota(bfloat16(0.0f));
  EXPECT_TRUE(LiteralUtil::CreateR3FromArray3D(r3).IsEqualAt({1, 2, 3}, 23));
  EXPECT_TRUE(
      LiteralUtil::CreateR3FromArray3DWithLayout(r3, LayoutUtil::MakeLayout({0, 1, 2})).IsEqualAt({1, 2, 3}, 23));
  Array4D<bool> r4(1, 2, 1, 2, {true, false, false, true});
  EXPECT_TRUE(LiteralUtil::CreateR4FromArray4D(r4).Get<bool>({0, 1, 0, 1}));
  EXPECT_TRUE(
      LiteralUtil::CreateR4FromArray4DWithLayout(r4, LayoutUtil::MakeLayout({0, 1, 2, 3})).Get<bool>({0, 1, 0, 1}));
}

TEST(LiteralUtilTest, ByRule) {
  EXPECT_EQ(LiteralUtil::CreateFull({2, 2}, 7.5f), LiteralUtil::CreateR2<float>({{7.5, 7.5}, {7.5, 7.5}}));
  EXPECT_EQ(LiteralUtil::CreateFullWithDescendingLayout<int32_t>({2}, 3), LiteralUtil::CreateR1<int32_t>({3, 3}));
  EXPECT_EQ(LiteralUtil::CreateFull({}, u4(3)), LiteralUtil::CreateR0(u4(3)));
  EXPECT_TRUE(LiteralUtil::CreateFromDimensions(C64, {2, 3}).IsAll(0));
  EXPECT_EQ(LiteralUtil::CreateR2F32Linspace(0, 3, 2, 2), LiteralUtil::CreateR2<float>({{0, 1}, {2, 3}}));
  EXPECT_EQ(LiteralUtil::CreateR3Projected<int32_t>({{1, 2}}, 2), LiteralUtil::CreateR3<int32_t>({{{1, 2}}, {{1, 2}}}));
  EXPECT_EQ(LiteralUtil::CreateR4Projected<int32_t>({{1, 2}}, 1, 2),
            LiteralUtil::CreateR4<int32_t>({{{{1, 2}}, {{1, 2}}}}));
  EXPECT_EQ(LiteralUtil::MakeScalarMatrixR2<float>(2, 3), LiteralUtil::CreateR2<float>({{3, 0}, {0, 3}}));
  EXPECT_EQ(LiteralUtil::MakeIdentityR2<s4>(2), *LiteralUtil::CreateR2<int32_t>({{1, 0}, {0, 1}}).Convert(S4));
  EXPECT_EQ(LiteralUtil::CreateFingerprintMatixR2<float>(10, 10, 2), [] {
    Array2D<float> expected(10, 10);
    expected.Each([](int64_t i, int64_t j, float* value) { *value = static_cast<float>(2 * (2 * i + 2 * j)); });
    return LiteralUtil::CreateR2FromArray2D(expected);
  }());
}

TEST(LiteralUtilTest, Generators) {
  const Shape shape = ShapeUtil::MakeShape(S32, {2, 2});
  EXPECT_EQ(*LiteralUtil::CreateLiteralWithGenerator<S32>(
                shape, [](absl::Span<const int64_t> i) { return static_cast<int32_t>(10 * i[0] + i[1]); }),
            LiteralUtil::CreateR2<int32_t>({{0, 1}, {10, 11}}));
  EXPECT_EQ(LiteralUtil::CreateLiteralWithGenerator<F32>(shape, [](absl::Span<const int64_t>) { return 1.0f; })
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
  std::minstd_rand0 engine;
  const Shape f32 = ShapeUtil::MakeShape(F32, {1000});
  const Literal random = *LiteralUtil::CreateRandomLiteral<F32>(f32, &engine, 5.0f, 0.1f);
  EXPECT_NEAR(*random.GetSumAsDouble({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), 50, 3);
  EXPECT_EQ(random, *LiteralUtil::CreateRandomLiteral<F32>(f32, 5.0f, 0.1f));
}

TEST(LiteralUtilTest, ScalarsOfAType) {
  EXPECT_EQ(LiteralUtil::Zero(PRED), LiteralUtil::CreateR0(false));
  EXPECT_EQ(LiteralUtil::One(S4), LiteralUtil::CreateR0(s4(1)));
  EXPECT_EQ(LiteralUtil::One(C64), LiteralUtil::CreateR0(complex64(1, 0)));
  EXPECT_EQ(LiteralUtil::One(F8E8M0FNU), LiteralUtil::CreateR0(float8_e8m0fnu(1.0f)));
  EXPECT_EQ(LiteralUtil::MinValue(S8), LiteralUtil::CreateR0<int8_t>(-128));
  EXPECT_EQ(LiteralUtil::MaxValue(U64), LiteralUtil::CreateR0(~uint64_t{0}));
  EXPECT_EQ(LiteralUtil::MaxValue(F32), LiteralUtil::CreateR0(std::numeric_limits<float>::infinity()));
  EXPECT_EQ(LiteralUtil::MinValue(BF16).ToString(), "bf16[] -inf");
  EXPECT_EQ(LiteralUtil::MinValue(F8E4M3FN).ToString(), "f8e4m3fn[] -448");
  EXPECT_EQ(LiteralUtil::MaxFiniteValue(F16).ToString(), "f16[] 65504");
  EXPECT_TRUE(std::isnan(LiteralUtil::NanValue(F64)->Get<double>({})));
  EXPECT_TRUE(std::isnan(LiteralUtil::NanValue(C64)->Get<complex64>({}).imag()));
  EXPECT_EQ(LiteralUtil::NanValue(S32).status().message(), "Invalid type for NanValue: S32");
  EXPECT_FALSE(LiteralUtil::NanValue(F4E2M1FN).ok());
  EXPECT_FALSE(LiteralUtil::NanValue(TUPLE).ok());
  EXPECT_DEATH(LiteralUtil::MaxValue(C64), "no largest value of C64");
  EXPECT_DEATH(LiteralUtil::MaxFiniteValue(S32), "");
  EXPECT_DEATH(LiteralUtil::Zero(TOKEN), "");
}

TEST(LiteralUtilTest, Tuples) {
  const Literal a = LiteralUtil::CreateR0<float>(1);
  Literal b = LiteralUtil::CreateR1<int32_t>({2, 3});
  const Literal copied = LiteralUtil::MakeTuple({&a, &b});
  EXPECT_EQ(copied.shape(), ShapeUtil::MakeTupleShape({a.shape(), b.shape()}));
  EXPECT_EQ(copied.Get<int32_t>({1}, {1}), 3);
  EXPECT_EQ(LiteralUtil::MakeTupleFromSlices({a, LiteralSlice(copied, {1})}), copied);
  EXPECT_EQ(LiteralUtil::MakeTuple({}).shape(), ShapeUtil::MakeNil());
  std::vector<Literal> list;
  list.push_back(a.Clone());
  list.push_back(b.Clone());
  EXPECT_EQ(LiteralUtil::MakeTuple(LiteralUtil::MakePointers(list)), copied);
  EXPECT_EQ(LiteralUtil::MakeTupleOwned(std::move(list)), copied);
  EXPECT_EQ(LiteralUtil::MakeTupleOwned(a.Clone(), std::move(b)), copied);
}

TEST(LiteralUtilTest, Conversions) {
  const Literal f32 = LiteralUtil::CreateR1<float>({1.5, -2});
  const Literal s32 = LiteralUtil::CreateR1<int32_t>({1, -2});
  const Literal tuple = LiteralUtil::MakeTuple({&f32, &s32});
  const Literal converted = LiteralUtil::ConvertF32ToBF16(tuple);
  EXPECT_EQ(converted.ToString(), "(\nbf16[2] {1.5, -2},\ns32[2] {1, -2}\n)");
  EXPECT_EQ(LiteralUtil::ConvertBF16ToF32(converted), tuple);
  EXPECT_EQ(LiteralUtil::ConvertS32ToF32(s32), LiteralUtil::CreateR1<float>({1, -2}));
  EXPECT_EQ(LiteralUtil::ConvertF32ToF64(f32), LiteralUtil::ConvertBF16ToF64(LiteralUtil::ConvertF32ToBF16(f32)));
  EXPECT_EQ(LiteralUtil::ConvertF64ToF32(LiteralUtil::ConvertF32ToF64(f32)), f32);
  EXPECT_EQ(LiteralUtil::ConvertF64ToBF16(LiteralUtil::ConvertF32ToF64(f32)), LiteralUtil::ConvertF32ToBF16(f32));
  EXPECT_EQ(LiteralUtil::ConvertS8ToF32(LiteralUtil::ConvertF32ToS8(f32)), LiteralUtil::CreateR1<float>({1, -2}));
  EXPECT_EQ(LiteralUtil::ConvertS32ToS1(s32).shape().element_type(), S1);
  EXPECT_EQ(LiteralUtil::ConvertF8E4M3FNToF32(LiteralUtil::ConvertF32ToF8E4M3FN(f32)), f32);
  EXPECT_EQ(LiteralUtil::ConvertF8E5M2ToF32(LiteralUtil::ConvertF32ToF8E5M2(f32)), f32);
  EXPECT_EQ(LiteralUtil::ConvertF32ToF8E4M3FNUZ(f32).shape().element_type(), F8E4M3FNUZ);
  EXPECT_EQ(LiteralUtil::ConvertF32ToF8E5M2FNUZ(f32).shape().element_type(), F8E5M2FNUZ);
  EXPECT_EQ(LiteralUtil::ConvertF32ToBF16(s32), s32);
}

TEST(LiteralUtilTest, Elements) {
  Literal matrix = LiteralUtil::CreateR2<int32_t>({{1, 2}, {7, 4}});
  EXPECT_EQ(LiteralUtil::GetFirstScalarLiteral(matrix), LiteralUtil::CreateR0<int32_t>(1));
  EXPECT_EQ(LiteralUtil::GetScalarLiteral(matrix, {0, 1}), LiteralUtil::CreateR0<int32_t>(2));
  EXPECT_EQ(LiteralUtil::MaxElement(matrix), LiteralUtil::CreateR0<int32_t>(7));
  LiteralUtil::SetScalarLiteral(matrix, {0, 1}, LiteralUtil::CreateR0<int32_t>(9));
  EXPECT_EQ(matrix, LiteralUtil::CreateR2<int32_t>({{1, 9}, {7, 4}}));
  EXPECT_DEATH(LiteralUtil::SetScalarLiteral(matrix, {0, 1}, LiteralUtil::CreateR0<float>(9)), "");
  EXPECT_DEATH(LiteralUtil::SetScalarLiteral(matrix, {0, 1}, matrix), "");
  EXPECT_DEATH(LiteralUtil::GetFirstScalarLiteral(LiteralUtil::CreateR1<float>({})), "no element");
  EXPECT_DEATH(LiteralUtil::MaxElement(LiteralUtil::CreateToken()), "token");

  EXPECT_EQ(LiteralUtil::LiteralAsScalarInt64(LiteralUtil::CreateR0<uint8_t>(5)), 5);
  EXPECT_EQ(LiteralUtil::LiteralAsScalarInt64(LiteralUtil::CreateR2<int64_t>({{-5}})), -5);
  EXPECT_EQ(LiteralUtil::LiteralAsScalarInt64(LiteralUtil::CreateR0<float>(5)), std::nullopt);
  EXPECT_EQ(LiteralUtil::LiteralAsScalarInt64(matrix), std::nullopt);
  EXPECT_EQ(LiteralUtil::MultiIndexAsString({0, 1}), "{0,1}");
  EXPECT_EQ(LiteralUtil::MultiIndexAsString({}), "{}");

  EXPECT_EQ(LiteralUtil::ReshapeSlice({4}, {0}, matrix), LiteralUtil::CreateR1<int32_t>({1, 9, 7, 4}));
  EXPECT_THAT(LiteralUtil::ReshapeSlice({1, 4}, {0, 1}, matrix).data<int32_t>(), ElementsAre(1, 9, 7, 4));
  EXPECT_DEATH(LiteralUtil::ReshapeSlice({3}, {0}, matrix), "");
}

}  // namespace
}  // namespace kashi::literal
