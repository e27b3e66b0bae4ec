// Calls of cuBLAS and cuDNN beside plain operations with the same meaning. More, from real XLA: gpu_dumps_test.cc of
// kashi/insight.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kashi/evaluator/evaluator_testing.h"
#include "kashi/evaluator/known_custom_calls.h"
#include "kashi/literal/fake_literal.h"
#include "kashi/literal/literal_comparison.h"

namespace kashi::evaluator {
namespace {

using ::testing::HasSubstr;

// Parameters x0, x1, … of these shapes.
std::string ParametersOf(const std::vector<std::string>& shapes) {
  std::string text;
  for (size_t i = 0; i < shapes.size(); ++i)
    absl::StrAppend(&text, "  x", i, " = ", shapes[i], " parameter(", i, ")\n");
  return text;
}

struct LibraryCall {
  std::vector<std::string> operands;
  std::string result;
  std::string target;
  std::string config;
  std::string attributes;

  std::string Text() const {
    std::string names;
    for (size_t i = 0; i < operands.size(); ++i) absl::StrAppend(&names, i == 0 ? "" : ", ", "x", i);
    return absl::Substitute(
        "HloModule m\nENTRY e {\n$0  ROOT r = $1 custom-call($2), custom_call_target=\"$3\"$4, "
        "backend_config=$5\n}\n",
        ParametersOf(operands), result, names, target, attributes, config);
  }
};

// The arrays of the call are those of the body, whose parameters are x0, x1, …, up to rounding. The body ends in a
// tuple or an array.
void ExpectSameAsPlain(const LibraryCall& call, const std::string& body, double tolerance = 1e-5,
                       const std::string& functions = "") {
  SCOPED_TRACE(call.Text());
  std::minstd_rand0 engine(1);
  std::vector<Literal> arguments;
  for (const std::string& shape : call.operands) {
    arguments.push_back(*MakeFakeLiteral(*ParseShape(shape), &engine, {{-3, 3}}, false, false, false, std::nullopt));
  }
  const Literal found = EvaluateText(call.Text(), arguments);
  const Literal expected = EvaluateText(
      absl::StrCat("HloModule m\n", functions, "ENTRY e {\n", ParametersOf(call.operands), body, "\n}\n"), arguments);
  const int count = expected.shape().IsTuple() ? expected.shape().tuple_shapes_size() : 1;
  for (int i = 0; i < count; ++i) {
    const auto part = [i](const Literal& literal) {
      return literal.shape().IsTuple() ? LiteralSlice(literal, {i}) : LiteralSlice(literal);
    };
    const absl::Status same =
        literal_comparison::Near(part(expected), part(found), ErrorSpec(tolerance, tolerance), false, nullptr);
    EXPECT_TRUE(same.ok()) << "result " << i << ": " << same;
  }
}

// ---- Products of matrices ------------------------------------------------------------------------------------------

constexpr char kProductOfMatrices[] =
    R"("dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],"rhs_batch_dimensions":[]})";

std::string GemmConfig(absl::string_view more) {
  return absl::StrCat("{\"gemm_backend_config\":{", kProductOfMatrices, ",", more, "}}");
}

constexpr char kDotOfGemm[] = "  d = f32[5,4] dot(x0, x1), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n";

TEST(GpuCustomCallsTest, ProductOfAnArrayResult) {
  ExpectSameAsPlain(
      {{"f32[5,3]", "f32[3,4]"}, "f32[5,4]", "__cublas$gemm", GemmConfig("\"alpha_real\":1,\"beta\":0"), ""},
      absl::StrCat(kDotOfGemm, "  ROOT r = f32[5,4] copy(d)"));
}

TEST(GpuCustomCallsTest, AlphaAndBeta) {
  ExpectSameAsPlain({{"f32[5,3]", "f32[3,4]", "f32[5,4]"},
                     "(f32[5,4], s8[16])",
                     "__cublas$gemm",
                     GemmConfig("\"alpha_real\":2.5,\"beta\":\"-0.5\""),
                     ""},
                    absl::StrCat(kDotOfGemm, R"(
  alpha = f32[] constant(2.5)
  alphas = f32[5,4] broadcast(alpha), dimensions={}
  beta = f32[] constant(-0.5)
  betas = f32[5,4] broadcast(beta), dimensions={}
  ad = f32[5,4] multiply(d, alphas)
  bc = f32[5,4] multiply(x2, betas)
  s = f32[5,4] add(ad, bc)
  ROOT r = (f32[5,4]) tuple(s))"));
}

TEST(GpuCustomCallsTest, ScratchMemoryIsZero) {
  const Literal a = LiteralUtil::CreateFromDimensions(F32, {5, 3}), b = LiteralUtil::CreateFromDimensions(F32, {3, 4});
  const LibraryCall call = {
      {"f32[5,3]", "f32[3,4]"}, "(f32[5,4], u8[16])", "__cublas$gemm", GemmConfig("\"alpha_real\":1"), ""};
  const Literal result = EvaluateText(call.Text(), std::vector<const Literal*>{&a, &b});
  EXPECT_EQ(LiteralSlice(result, {1}).data<uint8_t>(), std::vector<uint8_t>(16, 0));
}

TEST(GpuCustomCallsTest, EpiloguesOfSilu) {
  ExpectSameAsPlain({{"f32[5,3]", "f32[3,4]", "f32[4]"},
                     "(f32[5,4], f32[5,4], s8[16])",
                     "__cublas$lt$matmul",
                     GemmConfig("\"alpha_real\":1,\"epilogue\":\"BIAS_SILU_AUX\""),
                     ""},
                    absl::StrCat(kDotOfGemm, R"(
  bias = f32[5,4] broadcast(x2), dimensions={1}
  s = f32[5,4] add(d, bias)
  l = f32[5,4] logistic(s)
  y = f32[5,4] multiply(s, l)
  ROOT r = (f32[5,4], f32[5,4]) tuple(y, s))"));
}

// The bias belongs to the dimension that is the most minor one in memory.
TEST(GpuCustomCallsTest, BiasOfAColumnMajorResult) {
  ExpectSameAsPlain({{"f32[5,3]", "f32[3,4]", "f32[5]"},
                     "(f32[5,4]{0,1}, s8[16])",
                     "__cublas$lt$matmul",
                     GemmConfig("\"alpha_real\":1,\"epilogue\":\"BIAS\""),
                     ""},
                    absl::StrCat(kDotOfGemm, R"(
  bias = f32[5,4] broadcast(x2), dimensions={0}
  s = f32[5,4] add(d, bias)
  ROOT r = (f32[5,4]) tuple(s))"));
}

// 8 bits: one scale for each factor, and one for the result; before 2024 also one for c.
TEST(GpuCustomCallsTest, ScaledProducts) {
  constexpr char kScaled[] = R"(
  a = f32[5,3] convert(x0)
  b = f32[3,4] convert(x1)
  d = f32[5,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ab = f32[] multiply($0, $1)
  abs = f32[5,4] broadcast(ab), dimensions={}
  dab = f32[5,4] multiply(d, abs)
)";
  constexpr char kNarrow[] = R"(
  dscale = f32[5,4] broadcast($0), dimensions={}
  y = f32[5,4] multiply(s, dscale)
  low = f32[] constant(-448)
  high = f32[] constant(448)
  c = f32[5,4] clamp(low, y, high)
  n = f8e4m3fn[5,4] convert(c)
)";
  ExpectSameAsPlain({{"f8e4m3fn[5,3]", "f8e5m2[3,4]", "f32[]", "f32[]", "f32[4]", "f32[]"},
                     "(f8e4m3fn[5,4], s8[16])",
                     "__cublas$lt$matmul$f8",
                     GemmConfig("\"alpha_real\":1,\"epilogue\":\"BIAS\""),
                     ""},
                    absl::StrCat(absl::Substitute(kScaled, "x2", "x3"),
                                 "  bias = f32[5,4] broadcast(x4), dimensions={1}\n  s = f32[5,4] add(dab, bias)\n",
                                 absl::Substitute(kNarrow, "x5"), "  ROOT r = (f8e4m3fn[5,4]) tuple(n)"),
                    0.07);
  ExpectSameAsPlain({{"f8e4m3fn[5,3]", "f8e5m2[3,4]", "bf16[5,4]", "f32[]", "f32[]", "f32[]", "f32[]"},
                     "(f8e4m3fn[5,4], s8[16])",
                     "__cublas$lt$matmul$f8",
                     GemmConfig("\"alpha_real\":1,\"beta\":1"),
                     ""},
                    absl::StrCat(absl::Substitute(kScaled, "x3", "x4"), R"(
  cw = f32[5,4] convert(x2)
  cs = f32[5,4] broadcast(x5), dimensions={}
  cc = f32[5,4] multiply(cw, cs)
  s = f32[5,4] add(dab, cc)
)",
                                 absl::Substitute(kNarrow, "x6"), "  ROOT r = (f8e4m3fn[5,4]) tuple(n)"),
                    0.07);
}

// ---- Convolutions --------------------------------------------------------------------------------------------------

// Each activation, by its name and by its number.
TEST(GpuCustomCallsTest, ActivationsOfConvolutions) {
  struct Case {
    const char *name, *number, *body;  // y from z; `zero` is there
  };
  const Case kCases[] = {
      {"kNone", "0", "y = f32[1,4,4,3] copy(z)"},
      {"kSigmoid", "1", "y = f32[1,4,4,3] logistic(z)"},
      {"kRelu", "2", "y = f32[1,4,4,3] maximum(z, zero)"},
      {"kRelu6", "3", "six = f32[] constant(6)  nil = f32[] constant(0)  y = f32[1,4,4,3] clamp(nil, z, six)"},
      {"kTanh", "5", "y = f32[1,4,4,3] tanh(z)"},
      {"kElu", "7",
       "p = pred[1,4,4,3] compare(z, zero), direction=GT  e = f32[1,4,4,3] exponential-minus-one(z)  "
       "y = f32[1,4,4,3] select(p, z, e)"},
      {"kLeakyRelu", "8",
       "q = f32[] constant(0.25)  qs = f32[1,4,4,3] broadcast(q), dimensions={}  l = f32[1,4,4,3] multiply(z, qs)  "
       "y = f32[1,4,4,3] maximum(z, l)"},
      {"kGeluExact", "9",
       "h = f32[] constant(0.5)  hs = f32[1,4,4,3] broadcast(h), dimensions={}  w = f32[] constant(0.70710678)  "
       "ws = f32[1,4,4,3] broadcast(w), dimensions={}  v = f32[1,4,4,3] multiply(z, ws)  e = f32[1,4,4,3] erf(v)  "
       "i = f32[] constant(1)  is = f32[1,4,4,3] broadcast(i), dimensions={}  g = f32[1,4,4,3] add(e, is)  "
       "k = f32[1,4,4,3] multiply(z, hs)  y = f32[1,4,4,3] multiply(k, g)"},
  };
  for (const Case& one : kCases) {
    for (const char* mode : {one.name, one.number}) {
      ExpectSameAsPlain(
          {{"f32[1,4,4,2]", "f32[3,3,2,3]", "f32[3]"},
           "(f32[1,4,4,3], u8[0])",
           "__cudnn$convBiasActivationForward",
           absl::Substitute(R"({"activation_mode":"$0","conv_result_scale":3,"leakyrelu_alpha":0.25})", mode),
           ", window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f"},
          absl::StrCat(R"(
  c = f32[1,4,4,3] convolution(x0, x1), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  three = f32[] constant(3)
  threes = f32[1,4,4,3] broadcast(three), dimensions={}
  s = f32[1,4,4,3] multiply(c, threes)
  b = f32[1,4,4,3] broadcast(x2), dimensions={3}
  z = f32[1,4,4,3] add(s, b)
  nothing = f32[] constant(0)
  zero = f32[1,4,4,3] broadcast(nothing), dimensions={}
  )",
                       one.body, "\n  ROOT r = (f32[1,4,4,3]) tuple(y)"));
    }
  }
}

// For windows that are reversed, dilated and in groups. y is linear in x and in w, so its gradients are those for which
//
//   sum of dy * y = sum of dx * x = sum of dw * w
TEST(GpuCustomCallsTest, GradientsOfConvolutionsAreAdjoint) {
  struct Case {
    const char *x, *w, *y, *attributes;
  };
  const Case kCases[] = {
      {"f64[2,7,6,4]", "f64[3,2,4,6]", "f64[2,5,5,6]", "window={size=3x2}, dim_labels=b01f_01io->b01f"},
      {"f64[2,7,6,4]", "f64[3,2,4,6]", "f64[2,5,5,6]",
       "window={size=3x2 rhs_reversal=1x1}, dim_labels=b01f_01io->b01f"},
      {"f64[2,9,6,4]", "f64[3,2,4,6]", "f64[2,4,2,6]",
       "window={size=3x2 stride=2x3 pad=1_2x1_0 rhs_dilate=2x1}, dim_labels=b01f_01io->b01f"},
      {"f64[2,4,9,6]", "f64[6,2,3,2]", "f64[2,6,4,2]",
       "window={size=3x2 stride=2x3 pad=1_2x1_0 rhs_dilate=2x1}, dim_labels=bf01_oi01->bf01, feature_group_count=2"},
  };
  for (const Case& one : kCases) {
    SCOPED_TRACE(one.attributes);
    const std::string w = one.w;
    std::minstd_rand0 engine(1);
    const auto make = [&](absl::string_view shape) {
      return *MakeFakeLiteral(*ParseShape(shape), &engine, std::nullopt, false, false, false, std::nullopt);
    };
    const Literal x = make(one.x), filter = make(w), dy = make(one.y);
    const auto run = [&](absl::string_view target, absl::string_view a, absl::string_view b, absl::string_view result,
                         const Literal& left, const Literal& right) {
      const LibraryCall call = {{std::string(a), std::string(b)},
                                absl::StrCat("(", result, ", u8[0])"),
                                std::string(target),
                                "{}",
                                absl::StrCat(", ", one.attributes)};
      return std::move(EvaluateText(call.Text(), std::vector<const Literal*>{&left, &right}).DecomposeTuple()[0]);
    };
    const auto inner = [](const Literal& a, const Literal& b) {
      double sum = 0;
      for (int64_t i = 0; i < a.element_count(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
      return sum;
    };
    const Literal y = run("__cudnn$convForward", one.x, w, one.y, x, filter);
    const Literal dx = run("__cudnn$convBackwardInput", one.y, w, one.x, dy, filter);
    const Literal dw = run("__cudnn$convBackwardFilter", one.x, one.y, w, x, dy);
    EXPECT_GT(std::abs(inner(y, dy)), 1e-3);
    EXPECT_NEAR(inner(y, dy), inner(dx, x), 1e-12);
    EXPECT_NEAR(inner(y, dy), inner(dw, filter), 1e-12);
    const Literal plain =
        EvaluateText(absl::Substitute("HloModule m\nENTRY e { a = $0 parameter(0)  b = $1 parameter(1)  ROOT c = $2 "
                                      "convolution(a, b), $3 }",
                                      one.x, w, one.y, one.attributes),
                     std::vector<const Literal*>{&x, &filter});
    EXPECT_EQ(plain, y);
  }
}

// ---- Norms and attention -------------------------------------------------------------------------------------------

constexpr char kSumOfTwo[] = "sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }\n";

// y, mean and factor; and backward, from these, the derivatives of the sum of y * dy.
TEST(GpuCustomCallsTest, LayerNormForTraining) {
  ExpectSameAsPlain({{"f32[4,6,1,1]", "f32[1,6,1,1]", "f32[1,6,1,1]"},
                     "(f32[4,6,1,1], f32[4,1,1,1], f32[4,1,1,1], u8[0])",
                     "__cudnn$norm",
                     R"({"cudnn_norm_backend_config":{"epsilon":0.5,"kind":"LAYER_FWD_TRAIN"}})",
                     ""},
                    R"(
  x = f32[4,6] reshape(x0)
  zero = f32[] constant(0)
  sixth = f32[] constant(0.16666667)
  sixths = f32[4] broadcast(sixth), dimensions={}
  s = f32[4] reduce(x, zero), dimensions={1}, to_apply=sum
  m = f32[4] multiply(s, sixths)
  ms = f32[4,6] broadcast(m), dimensions={0}
  c = f32[4,6] subtract(x, ms)
  cc = f32[4,6] multiply(c, c)
  v = f32[4] reduce(cc, zero), dimensions={1}, to_apply=sum
  vm = f32[4] multiply(v, sixths)
  half = f32[] constant(0.5)
  halves = f32[4] broadcast(half), dimensions={}
  ve = f32[4] add(vm, halves)
  f = f32[4] rsqrt(ve)
  fs = f32[4,6] broadcast(f), dimensions={0}
  n = f32[4,6] multiply(c, fs)
  w = f32[6] reshape(x1)
  ws = f32[4,6] broadcast(w), dimensions={1}
  b = f32[6] reshape(x2)
  bs = f32[4,6] broadcast(b), dimensions={1}
  nw = f32[4,6] multiply(n, ws)
  y = f32[4,6] add(nw, bs)
  ry = f32[4,6,1,1] reshape(y)
  rm = f32[4,1,1,1] reshape(m)
  rf = f32[4,1,1,1] reshape(f)
  ROOT r = (f32[4,6,1,1], f32[4,1,1,1], f32[4,1,1,1]) tuple(ry, rm, rf))",
                    1e-5, kSumOfTwo);
}

Literal RunNorm(absl::string_view kind, const std::vector<std::string>& operands, absl::string_view result,
                const std::vector<const Literal*>& arguments) {
  const LibraryCall call = {operands, std::string(result), "__cudnn$norm",
                            absl::Substitute(R"({"cudnn_norm_backend_config":{"epsilon":0.1,"kind":"$0"}})", kind), ""};
  return EvaluateText(call.Text(), arguments);
}

// Differences of the sum of y * dy, in f64, are the oracle.
TEST(GpuCustomCallsTest, GradientsOfLayerNorm) {
  const std::string x_shape = "f64[3,4,2,1]", row = "f64[1,4,2,1]", column = "f64[3,1,1,1]";
  std::minstd_rand0 engine(2);
  const auto make = [&](const std::string& shape) {
    return *MakeFakeLiteral(*ParseShape(shape), &engine, std::nullopt, false, false, false, std::nullopt);
  };
  Literal inputs[3] = {make(x_shape), make(row), make(row)};
  const Literal dy = make(x_shape);
  const auto forward = [&] {
    return RunNorm("LAYER_FWD_TRAIN", {x_shape, row, row},
                   absl::StrCat("(", x_shape, ", ", column, ", ", column, ", u8[0])"),
                   {&inputs[0], &inputs[1], &inputs[2]});
  };
  const auto loss = [&] {
    const Literal y = forward();
    double sum = 0;
    for (int64_t i = 0; i < dy.element_count(); ++i)
      sum += LiteralSlice(y, {0}).data<double>()[i] * dy.data<double>()[i];
    return sum;
  };
  std::vector<Literal> made = forward().DecomposeTuple();
  const Literal gradients = RunNorm("LAYER_BWD", {x_shape, row, x_shape, column, column},
                                    absl::StrCat("(", x_shape, ", ", row, ", ", row, ", u8[0])"),
                                    {&inputs[0], &inputs[1], &dy, &made[1], &made[2]});
  for (int k = 0; k < 3; ++k) {
    for (int64_t i = 0; i < inputs[k].element_count(); ++i) {
      constexpr double kStep = 1e-4;
      double& element = inputs[k].data<double>()[i];
      const double before = element;
      element = before + kStep;
      const double above = loss();
      element = before - kStep;
      const double below = loss();
      element = before;
      EXPECT_NEAR(LiteralSlice(gradients, {k}).data<double>()[i], (above - below) / (2 * kStep), 1e-6) << k << " " << i;
    }
  }
}

// Keys from t - 2 to t.
TEST(GpuCustomCallsTest, AttentionInAWindow) {
  ExpectSameAsPlain(
      {{"f32[1,2,5,3]", "f32[1,2,5,3]", "f32[1,2,5,3]"},
       "(f32[1,2,5,3], f32[1,2,5], u8[0])",
       "__cudnn$fmhaSoftmax",
       R"({"cudnn_fmha_backend_config":{"fmha_scale":2,"mask_type":"CAUSAL","sliding_window_length":3,)"
       R"("bmm1_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["3"],"lhs_batch_dimensions":["0","1"],"rhs_batch_dimensions":["0","1"]},)"
       R"("bmm2_dot_dimension_numbers":{"lhs_contracting_dimensions":["3"],"rhs_contracting_dimensions":["2"],"lhs_batch_dimensions":["0","1"],"rhs_batch_dimensions":["0","1"]}}})",
       ""},
      R"(
  qk = f32[1,2,5,5] dot(x0, x1), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={3}
  two = f32[] constant(2)
  twos = f32[1,2,5,5] broadcast(two), dimensions={}
  l = f32[1,2,5,5] multiply(qk, twos)
  w = f32[5,5] constant({{1,0,0,0,0},{1,1,0,0,0},{1,1,1,0,0},{0,1,1,1,0},{0,0,1,1,1}})
  ws = f32[1,2,5,5] broadcast(w), dimensions={2,3}
  e = f32[1,2,5,5] exponential(l)
  p = f32[1,2,5,5] multiply(e, ws)
  zero = f32[] constant(0)
  s = f32[1,2,5] reduce(p, zero), dimensions={3}, to_apply=sum
  ss = f32[1,2,5,5] broadcast(s), dimensions={0,1,2}
  n = f32[1,2,5,5] divide(p, ss)
  o = f32[1,2,5,3] dot(n, x2), lhs_batch_dims={0,1}, rhs_batch_dims={0,1}, lhs_contracting_dims={3}, rhs_contracting_dims={2}
  log = f32[1,2,5] log(s)
  ROOT r = (f32[1,2,5,3], f32[1,2,5]) tuple(o, log))",
      1e-5, kSumOfTwo);
}

// ---- Errors --------------------------------------------------------------------------------------------------------

TEST(GpuCustomCallsTest, ErrorsNameTheCall) {
  const auto error = [](absl::string_view target, absl::string_view config) {
    const Literal a = LiteralUtil::CreateFromDimensions(F32, {5, 3}),
                  b = LiteralUtil::CreateFromDimensions(F32, {3, 4});
    const LibraryCall call = {
        {"f32[5,3]", "f32[3,4]"}, "(f32[5,4], s8[16])", std::string(target), std::string(config), ""};
    return std::string(TryEvaluateText(call.Text(), {&a, &b}).status().message());
  };
  EXPECT_THAT(error("__cublas$lt$matmul", GemmConfig("\"alpha_real\":1,\"epilogue\":\"SOFTMAX\"")),
              HasSubstr("r: backend_config: epilogue \"SOFTMAX\" is not known"));
  EXPECT_THAT(error("__cublas$lt$matmul", GemmConfig("\"alpha_real\":\"NaN\"")), HasSubstr("is not finite"));
  EXPECT_THAT(error("__cublas$lt$groupedMatmul", "{}"),
              HasSubstr("is an operation of cuBLAS for which there is no rule"));
  EXPECT_TRUE(IsKnownCustomCall("__cublas$gemm"));
  EXPECT_FALSE(IsKnownCustomCall("__cublas$lt$groupedMatmul"));
}

TEST(GpuCustomCallsTest, ScratchMemoryHasALimit) {
  const Literal a = LiteralUtil::CreateFromDimensions(F32, {5, 3}), b = LiteralUtil::CreateFromDimensions(F32, {3, 4});
  const LibraryCall call = {
      {"f32[5,3]", "f32[3,4]"}, "(f32[5,4], s8[1000000000])", "__cublas$gemm", GemmConfig("\"alpha_real\":1"), ""};
  EvaluationOptions options;
  options.memory_limit_bytes = 1 << 20;
  EXPECT_EQ(TryEvaluateText(call.Text(), {&a, &b}, options).status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace kashi::evaluator
