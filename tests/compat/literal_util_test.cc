#include "xla/literal_util.h"

#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "xla/array2d.h"
#include "xla/array3d.h"
#include "xla/array4d.h"
#include "xla/hlo/testlib/test.h"
#include "xla/layout_util.h"
#include "xla/literal.h"
#include "xla/shape_util.h"
#include "xla/tests/literal_test_util.h"
#include "xla/tsl/lib/core/bitmap.h"
#include "xla/types.h"
#include "xla/xla_data.pb.h"

namespace xla {
namespace {

TEST(LiteralUtilCompatTest, Create) {
  EXPECT_EQ(LiteralUtil::CreateR0<bool>(true).ToString(), "pred[] true");
  EXPECT_EQ(LiteralUtil::CreateR0<complex64>({1.0f, 2.0f}).ToString(), "c64[] (1, 2)");
  EXPECT_EQ(LiteralUtil::CreateR0<s4>(s4(3)).ToString(), "s4[] 3");
  EXPECT_EQ(LiteralUtil::CreateR0<bfloat16>(static_cast<bfloat16>(3.14f)).ToString(), "bf16[] 3.141");
  EXPECT_EQ(LiteralUtil::CreateR1<float>({1.0f, 2.0f}).ToString(), "f32[2] {1, 2}");
  EXPECT_EQ(LiteralUtil::CreateR1<half>({half{1.0f}, half{2.0f}}).ToString(), "f16[2] {1, 2}");
  EXPECT_EQ(LiteralUtil::CreateR1<complex128>({{1, 2}, {3, 4}}).Get<complex128>({1}), complex128(3, 4));
  tsl::core::Bitmap bits(3);
  bits.set(1);
  EXPECT_EQ(LiteralUtil::CreateR1(bits).ToString(), "pred[3] {0, 1, 0}");
  EXPECT_EQ(LiteralUtil::CreateR2({{1, 2}, {3, 4}}), LiteralUtil::CreateR2<int32_t>({{1, 2}, {3, 4}}));
  EXPECT_EQ(LiteralUtil::CreateR3({{{1.0, 2.0}}}).shape(), ShapeUtil::MakeShape(F64, {1, 1, 2}));
  const Literal r4 = LiteralUtil::CreateR4WithLayout<float>({{{{1, 2}, {3, 4}}}}, LayoutUtil::MakeLayout({0, 1, 2, 3}));
  EXPECT_EQ(r4.Get<float>({0, 0, 1, 0}), 3);
  EXPECT_EQ(LiteralUtil::CreateFull<float>({2, 2}, 1.0f), LiteralUtil::CreateR2<float>({{1, 1}, {1, 1}}));
}

TEST(LiteralUtilCompatTest, FromArrays) {
  auto r2 = LiteralUtil::CreateR2FromArray2D<int32_t>({{1, 2}, {3, 4}});
  LiteralTestUtil::ExpectR2Equal<int32_t>({{1, 2}, {3, 4}}, r2);
  Array2D<float> array2(2, 3);
  array2.FillUnique(0.5f);
  LiteralTestUtil::ExpectR2EqualArray2D(array2, LiteralUtil::CreateR2FromArray2D(array2));
  Array3D<float> array3({{{1, 2}, {3, 4}}});
  LiteralTestUtil::ExpectR3EqualArray3D(array3, LiteralUtil::CreateR3FromArray3D<float>(array3));
  Array4D<float> array4(1, 2, 3, 4);
  array4.FillIota(0);
  LiteralTestUtil::ExpectR4EqualArray4D(array4, LiteralUtil::CreateR4FromArray4D(array4));
  LiteralTestUtil::ExpectR4NearArray4D(array4, LiteralUtil::CreateR4FromArray4D(array4), ErrorSpec(1e-6));
}

TEST(LiteralUtilCompatTest, Tuples) {
  auto scalar = LiteralUtil::CreateR0<float>(1.0);
  auto matrix = LiteralUtil::CreateR2<float>({{1.0, 2.0}, {3.0, 4.0}});
  auto tuple = LiteralUtil::MakeTuple({&scalar, &matrix});
  auto nested = LiteralUtil::MakeTuple({&tuple, &scalar});
  EXPECT_EQ(nested.Get<float>({1, 0}, {0, 1}), 3);
  auto owned = LiteralUtil::MakeTupleOwned(std::move(tuple), LiteralUtil::CreateR0<float>(1.0));
  EXPECT_TRUE(LiteralTestUtil::Equal(nested, owned));
  EXPECT_EQ(LiteralUtil::CreateToken(), LiteralUtil::CreateToken());
}

TEST(LiteralUtilCompatTest, Others) {
  EXPECT_EQ(LiteralUtil::Zero(F32), LiteralUtil::CreateR0<float>(0));
  EXPECT_EQ(LiteralUtil::MaxValue(U8), LiteralUtil::CreateR0<uint8_t>(255));
  EXPECT_EQ(LiteralUtil::MaxFiniteValue(F16), LiteralUtil::CreateR0<half>(half(65504.0f)));
  EXPECT_TRUE(LiteralTestUtil::Equal(LiteralUtil::ConvertF32ToBF16(LiteralUtil::CreateR1<float>({1, 2})),
                                     LiteralUtil::CreateR1<bfloat16>({bfloat16(1.0f), bfloat16(2.0f)})));
  EXPECT_EQ(LiteralUtil::LiteralAsScalarInt64(LiteralUtil::CreateR0<int32_t>(4)), 4);
  std::minstd_rand0 engine;
  TF_ASSERT_OK_AND_ASSIGN(Literal random,
                          LiteralUtil::CreateRandomLiteral<F32>(ShapeUtil::MakeShape(F32, {8}), &engine, 1.0f, 0.0f));
  EXPECT_TRUE(random.IsAllFloat(1.0f));
  TF_ASSERT_OK_AND_ASSIGN(Literal fake, MakeFakeLiteral(ShapeUtil::MakeShape(S32, {8})));
  EXPECT_EQ(fake.element_count(), 8);
}

TEST(LiteralUtilCompatTest, Comparisons) {
  auto one = LiteralUtil::CreateR1<float>({1.0f, 2.0f});
  auto close = LiteralUtil::CreateR1<float>({1.0f, 2.001f});
  EXPECT_FALSE(LiteralTestUtil::Equal(one, close));
  EXPECT_TRUE(LiteralTestUtil::Near(one, close, ErrorSpec(0.01, 0.01)));
  EXPECT_FALSE(LiteralTestUtil::Near(one, close, ErrorSpec{1e-6, 1e-6}, /*detailed_message=*/true));
  EXPECT_TRUE(LiteralTestUtil::NearOrEqual(one, close, ErrorSpec(0.01)));
  EXPECT_FALSE(LiteralTestUtil::NearOrEqual(one, close, std::nullopt));
  EXPECT_TRUE(LiteralTestUtil::EqualShapes(one.shape(), close.shape()));
  EXPECT_FALSE(LiteralTestUtil::EqualShapes(one.shape(), ShapeUtil::MakeShape(F32, {3})));
  LiteralTestUtil::ExpectR0Equal<int32_t>(3, LiteralUtil::CreateR0<int32_t>(3));
  LiteralTestUtil::ExpectR1Equal<float>({1.0f, 2.0f}, one);
  LiteralTestUtil::ExpectR1Near<float>({1.0f, 2.0f}, close, ErrorSpec(0.01));
  LiteralTestUtil::ExpectR2Near<float>({{1.0f}}, LiteralUtil::CreateR2<float>({{1.0f}}), ErrorSpec(0.01));
  LiteralTestUtil::ExpectR3Equal<float>({{{1.0f}}}, LiteralUtil::CreateR3<float>({{{1.0f}}}));
}

}  // namespace
}  // namespace xla
