// Tests Qr, LuDecomposition, Eigh and their parts by their meaning: programs multiply the factors.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "kashi/array/shape_util.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/literal/literal_util.h"

namespace kashi::evaluator {
namespace {

// The largest element of |x - y|.
double Distance(const LiteralSlice& x, const LiteralSlice& y) {
  const Literal a = x.Convert(C128).value(), b = y.Convert(C128).value();
  double largest = 0;
  a.EachCell<complex128>([&](absl::Span<const int64_t> index, complex128 value) {
    largest = std::max(largest, std::abs(value - b.Get<complex128>(index)));
  });
  return largest;
}

TEST(FactorizationsTest, QrHasTheSignsOfLapack) {
  // The numbers of a TPU and of numpy.
  const Literal out = EvaluateText(R"(
    ENTRY e { x = f32[3,3] constant({{0,1,2},{3,4,5},{6,7,8}})
              qr = (f32[3,3], f32[3]) custom-call(x), custom_call_target="Qr"
              factors = f32[3,3] get-tuple-element(qr), index=0
              taus = f32[3] get-tuple-element(qr), index=1
              q = f32[3,3] custom-call(factors, taus), custom_call_target="ProductOfElementaryHouseholderReflectors"
              ROOT t = (f32[3,3], f32[3,3]) tuple(q, factors) })");
  const Literal q = LiteralUtil::CreateR2<float>(
      {{0, 0.91287076, 0.4082487}, {-0.44721356, 0.36514866, -0.8164965}, {-0.8944271, -0.18257444, 0.4082482}});
  EXPECT_LT(Distance(LiteralSlice(out, {0}), q), 1e-6);
  EXPECT_NEAR(LiteralSlice(out, {1}).Get<float>({0, 0}), -6.7082043, 1e-5);
  EXPECT_NEAR(LiteralSlice(out, {1}).Get<float>({0, 2}), -9.391484, 1e-5);
  EXPECT_NEAR(LiteralSlice(out, {1}).Get<float>({1, 1}), 1.0954441, 1e-5);
  EXPECT_NEAR(LiteralSlice(out, {1}).Get<float>({2, 2}), 0, 1e-6);
}

// Numbers without a pattern: c128[2,5,3] c.
constexpr absl::string_view kMatrix = R"(
              i = f64[2,5,3] iota(), iota_dimension=1
              j = f64[2,5,3] iota(), iota_dimension=2
              b = f64[2,5,3] iota(), iota_dimension=0
              ij = f64[2,5,3] multiply(i, j)
              t0 = f64[2,5,3] add(i, b)
              t1 = f64[2,5,3] add(t0, ij)
              re = f64[2,5,3] sine(t1)
              t2 = f64[2,5,3] subtract(j, t1)
              im = f64[2,5,3] cosine(t2)
              c = c128[2,5,3] complex(re, im))";

TEST(FactorizationsTest, ComplexQrOfABatch) {
  const Literal out = EvaluateText(absl::StrCat("ENTRY e {", kMatrix, R"(
              qr = (c128[2,5,3], c128[2,3]) custom-call(c), custom_call_target="Qr"
              factors = c128[2,5,3] get-tuple-element(qr), index=0
              taus = c128[2,3] get-tuple-element(qr), index=1
              q = c128[2,5,3] custom-call(factors, taus), custom_call_target="ProductOfElementaryHouseholderReflectors"
              top = c128[2,3,3] slice(factors), slice={[0:2], [0:3], [0:3]}
              row = s32[2,3,3] iota(), iota_dimension=1
              column = s32[2,3,3] iota(), iota_dimension=2
              above = pred[2,3,3] compare(row, column), direction=LE
              zero = c128[] constant((0, 0))
              zeros = c128[2,3,3] broadcast(zero), dimensions={}
              r = c128[2,3,3] select(above, top, zeros)
              back = c128[2,5,3] dot(q, r), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
                  rhs_contracting_dims={1}
              qre = f64[2,5,3] real(q)
              qim = f64[2,5,3] imag(q)
              minus = f64[2,5,3] negate(qim)
              qc = c128[2,5,3] complex(qre, minus)
              unit = c128[2,3,3] dot(qc, q), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1},
                  rhs_contracting_dims={1}
              same = pred[2,3,3] compare(row, column), direction=EQ
              eye = c128[2,3,3] convert(same)
              ROOT t = (c128[2,5,3], c128[2,5,3], c128[2,3,3], c128[2,3,3]) tuple(c, back, unit, eye) })"));
  EXPECT_LT(Distance(LiteralSlice(out, {0}), LiteralSlice(out, {1})), 1e-14);
  EXPECT_LT(Distance(LiteralSlice(out, {2}), LiteralSlice(out, {3})), 1e-14);
}

TEST(FactorizationsTest, LuAsATpuGivesIt) {
  const Literal out = EvaluateText(R"(
    ENTRY e { x = f32[3,3] constant({{0,1,2},{3,4,5},{6,7,8}})
              ROOT r = (f32[3,3], s32[3], s32[3]) custom-call(x), custom_call_target="LuDecomposition" })");
  EXPECT_LT(Distance(LiteralSlice(out, {0}), LiteralUtil::CreateR2<float>({{6, 7, 8}, {0, 1, 2}, {0.5, 0.5, 0}})),
            1e-6);
  EXPECT_EQ(LiteralSlice(out, {1}), LiteralUtil::CreateR1<int32_t>({2, 2, 2}));
  EXPECT_EQ(LiteralSlice(out, {2}), LiteralUtil::CreateR1<int32_t>({2, 0, 1}));
}

// A = C^H C from the triangle that the call names; the other one is NaN, and not to be read.
std::string EighProgram(bool lower, absl::string_view config) {
  return absl::StrCat("ENTRY e {", kMatrix,
                      absl::Substitute(R"(
              re2 = f64[2,5,3] real(c)
              im2 = f64[2,5,3] imag(c)
              minus = f64[2,5,3] negate(im2)
              cc = c128[2,5,3] complex(re2, minus)
              a = c128[2,3,3] dot(cc, c), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1},
                  rhs_contracting_dims={1}
              row = s32[2,3,3] iota(), iota_dimension=1
              column = s32[2,3,3] iota(), iota_dimension=2
              kept = pred[2,3,3] compare(row, column), direction=$0
              gap = c128[] constant((nan, nan))
              gaps = c128[2,3,3] broadcast(gap), dimensions={}
              triangle = c128[2,3,3] select(kept, a, gaps)
              eigh = (c128[2,3,3], f64[2,3]) custom-call(triangle), custom_call_target="Eigh", backend_config="$1"
              v = c128[2,3,3] get-tuple-element(eigh), index=0
              w = f64[2,3] get-tuple-element(eigh), index=1
              w2 = f64[2,3,3] broadcast(w), dimensions={0,2}
              w3 = c128[2,3,3] convert(w2)
              vw = c128[2,3,3] multiply(v, w3)
              av = c128[2,3,3] dot(a, v), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
                  rhs_contracting_dims={1}
              ROOT t = (c128[2,3,3], c128[2,3,3], f64[2,3]) tuple(av, vw, w) })",
                                       lower ? "GE" : "LE", config));
}

TEST(FactorizationsTest, EighOfOneTriangle) {
  for (const bool lower : {true, false}) {
    const Literal out = EvaluateText(EighProgram(lower, lower ? "1,1,100,1e-6" : "0,1,100,1e-6"));
    EXPECT_LT(Distance(LiteralSlice(out, {0}), LiteralSlice(out, {1})), 1e-13);
    const LiteralSlice w(out, {2});
    for (int64_t b = 0; b < 2; ++b) {
      EXPECT_LE(w.Get<double>({b, 0}), w.Get<double>({b, 1}));
      EXPECT_LE(w.Get<double>({b, 1}), w.Get<double>({b, 2}));
    }
  }
}

// v a = w v by rows, which is how TPU modules read it.
TEST(FactorizationsTest, EighOfQuadrants) {
  const Literal out = EvaluateText(R"(
    ENTRY e { a00 = f32[2,2] constant({{4,1},{1,3}})
              a01 = f32[2,2] constant({{2,0},{5,1}})
              a10 = f32[2,2] constant({{2,5},{0,1}})
              a11 = f32[2,2] constant({{-1,2},{2,7}})
              e = (f32[2], f32[2], f32[2,2], f32[2,2], f32[2,2], f32[2,2]) custom-call(a00, a01, a10, a11),
                custom_call_target="EighTpu"
              w0 = f32[2] get-tuple-element(e), index=0
              w1 = f32[2] get-tuple-element(e), index=1
              v00 = f32[2,2] get-tuple-element(e), index=2
              v01 = f32[2,2] get-tuple-element(e), index=3
              v10 = f32[2,2] get-tuple-element(e), index=4
              v11 = f32[2,2] get-tuple-element(e), index=5
              a0 = f32[2,4] concatenate(a00, a01), dimensions={1}
              a1 = f32[2,4] concatenate(a10, a11), dimensions={1}
              a = f32[4,4] concatenate(a0, a1), dimensions={0}
              v0 = f32[2,4] concatenate(v00, v01), dimensions={1}
              v1 = f32[2,4] concatenate(v10, v11), dimensions={1}
              v = f32[4,4] concatenate(v0, v1), dimensions={0}
              w = f32[4] concatenate(w0, w1), dimensions={0}
              ws = f32[4,4] broadcast(w), dimensions={0}
              va = f32[4,4] dot(v, a), lhs_contracting_dims={1}, rhs_contracting_dims={0}
              wv = f32[4,4] multiply(ws, v)
              unit = f32[4,4] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={1}
              row = s32[4,4] iota(), iota_dimension=0
              column = s32[4,4] iota(), iota_dimension=1
              same = pred[4,4] compare(row, column), direction=EQ
              eye = f32[4,4] convert(same)
              ROOT t = (f32[4,4], f32[4,4], f32[4,4], f32[4,4]) tuple(va, wv, unit, eye) })");
  EXPECT_LT(Distance(LiteralSlice(out, {0}), LiteralSlice(out, {1})), 1e-5);
  EXPECT_LT(Distance(LiteralSlice(out, {2}), LiteralSlice(out, {3})), 1e-6);
}

// M = (strictly upper part of V^T V + I) diag(-tau) for two reflectors: I + V T V^T = H_1 H_2.
TEST(FactorizationsTest, CompactReflectors) {
  const Literal out = EvaluateText(R"(
    ENTRY e { u = f32[3,3] constant({{-2,3,5},{nan,-7,11},{nan,nan,-13}})
              ROOT t = f32[3,3] custom-call(u), custom_call_target="CompactWyHelper" })");
  // T_1 = 3 T_0 - 7 e_1 = (-6, -7, 0); T_2 = 5 T_0 + 11 T_1 - 13 e_2
  EXPECT_EQ(out, LiteralUtil::CreateR2<float>({{-2, -6, -76}, {0, -7, -77}, {0, 0, -13}}));
}

TEST(FactorizationsTest, EighOfLargeAndSmallNumbersAndOfNone) {
  const Literal out = EvaluateText(R"(
    ENTRY e { x = f64[2,2,2] constant({{{2e200,0},{1e200,2e200}},{{2e-200,0},{1e-200,2e-200}}})
              n = f32[2,2] constant({{inf,0},{0,1}})
              e0 = (f64[2,2,2], f64[2,2]) custom-call(x), custom_call_target="Eigh"
              w0 = f64[2,2] get-tuple-element(e0), index=1
              e1 = (f32[2,2], f32[2]) custom-call(n), custom_call_target="Eigh"
              z = f32[3,0,0] constant({{},{},{}})
              e2 = (f32[3,0,0], f32[3,0]) custom-call(z), custom_call_target="Eigh"
              ROOT t = (f64[2,2], (f32[2,2], f32[2])) tuple(w0, e1) })");
  const LiteralSlice w(out, {0});
  EXPECT_DOUBLE_EQ(w.Get<double>({0, 0}), 1e200);
  EXPECT_DOUBLE_EQ(w.Get<double>({0, 1}), 3e200);
  EXPECT_DOUBLE_EQ(w.Get<double>({1, 0}), 1e-200);
  EXPECT_DOUBLE_EQ(w.Get<double>({1, 1}), 3e-200);
  EXPECT_TRUE(std::isnan(LiteralSlice(out, {1, 0}).Get<float>({1, 1})));
  EXPECT_TRUE(std::isnan(LiteralSlice(out, {1, 1}).Get<float>({1})));
}

TEST(FactorizationsTest, OtherShapesAreRefused) {
  Literal x(ShapeUtil::MakeShape(F32, {3, 4}));
  for (const absl::string_view call :
       {R"((f32[3,4], f32[4]) custom-call(x), custom_call_target="Qr")",
        R"(f32[3,4] custom-call(x), custom_call_target="Qr")",
        R"((f32[5], f32[1]) custom-call(t), custom_call_target="Qr")",
        R"((f32[3,4], f32[3]) custom-call(x), custom_call_target="Eigh")",
        R"((f32[3,4], s32[4], s32[3]) custom-call(x), custom_call_target="LuDecomposition")",
        R"(f32[3,4] custom-call(x, t), custom_call_target="ProductOfElementaryHouseholderReflectors")",
        R"(f32[3,4] custom-call(x), custom_call_target="CompactWyHelper")"}) {
    const absl::Status refused =
        TryEvaluateText(
            absl::StrCat("ENTRY e { x = f32[3,4] parameter(0)\n t = f32[5] constant({1,2,3,4,5})\n ROOT r = ", call,
                         " }"),
            {&x})
            .status();
    EXPECT_TRUE(absl::IsUnimplemented(refused)) << call << "\n" << refused;
  }
}

}  // namespace
}  // namespace kashi::evaluator
