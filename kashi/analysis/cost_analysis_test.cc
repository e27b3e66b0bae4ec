// The expected numbers are those of XLA's own cost analysis (jaxlib 0.10.2) for the same modules.
#include "kashi/analysis/cost_analysis.h"

#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kashi/analysis/analysis_testing.h"
#include "kashi/analysis/cost_analysis_products.h"
#include "kashi/hlo/text/hlo_parser.h"

namespace kashi::analysis {
namespace {

struct Case {
  const char* instructions;
  double flops;
  double transcendentals;
  double bytes;
};
std::ostream& operator<<(std::ostream& out, const Case& test_case) { return out << test_case.instructions; }

constexpr char kCallees[] = R"(HloModule m
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
add2 { x = f32[] parameter(0)  k = s32[] parameter(1)  y = f32[] parameter(2)  l = s32[] parameter(3)
  z = f32[] add(x, y)  m = s32[] add(k, l)  ROOT t = (f32[], s32[]) tuple(z, m) }
lt2 { x = f32[] parameter(0)  y = f32[] parameter(1)  k = s32[] parameter(2)  l = s32[] parameter(3)
  ROOT z = pred[] compare(x, y), direction=LT }
neg { x = f32[10] parameter(0)  ROOT z = f32[10] negate(x) }
expadd { x = f32[10] parameter(0)  y = f32[10] exponential(x)  ROOT z = f32[10] add(x, y) }
yes { x = f32[10] parameter(0)  ROOT z = pred[] constant(true) }
update { x = f32[10] parameter(0)  u = f32[3] parameter(1)  i = s32[] parameter(2)
  ROOT z = f32[10] dynamic-update-slice(x, u, i) }
nested { x = f32[10] parameter(0)  y = f32[10] fusion(x), kind=kLoop, calls=expadd  ROOT z = f32[10] add(x, y) }
element { x = (f32[10], f32[7]) parameter(0)  y = f32[10] get-tuple-element(x), index=0  ROOT z = f32[10] negate(y) }
table { x = f32[3] parameter(0)  k = f32[3] constant({1, 2, 3})  s = f32[] constant(4)
  b = f32[3] broadcast(s), dimensions={}  y = f32[3] add(k, x)  ROOT z = f32[3] add(y, b) }
halves { x = f32[10] parameter(0)  s = f32[5] slice(x), slice={[0:5]}  t = f32[5] slice(x), slice={[5:10]}
  ROOT z = f32[5] add(s, t) }
twice { x = f32[10] parameter(0)  a = f32[10,10] broadcast(x), dimensions={0}
  b = f32[10,10] broadcast(x), dimensions={1}
  n = f32[10] negate(x)  m = f32[10] abs(x)  c = f32[10,10] add(a, b)
  ROOT t = (f32[10,10], f32[10], f32[10]) tuple(c, n, m) }
nestedroot { x = f32[10] parameter(0)  ROOT y = f32[10] fusion(x), kind=kLoop, calls=expadd }
nestedhalves { x = f32[10] parameter(0)  y = f32[5] fusion(x), kind=kLoop, calls=halves  ROOT z = f32[5] negate(y) }
inner { x = (f32[10], (f32[7], f32[9]), f32[2]) parameter(0)  a = f32[10] get-tuple-element(x), index=0
  b = (f32[7], f32[9]) get-tuple-element(x), index=1  c = f32[9] get-tuple-element(b), index=1
  d = f32[3] slice(a), slice={[0:3]}  ROOT t = (f32[3], f32[9]) tuple(d, c) }
again { x = (f32[10], f32[2]) parameter(0)  a = f32[10] get-tuple-element(x), index=0
  s = f32[3] slice(a), slice={[0:3]}  b = f32[10] get-tuple-element(x), index=0  n = f32[10] negate(b)
  ROOT t = (f32[3], f32[10]) tuple(s, n) }
carry { x = f32[] parameter(0)  y = f32[] parameter(1)  z = f32[] add(x, y)  e = f32[] exponential(z)
  ROOT t = (f32[], f32[]) tuple(e, z) }
take { x = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] gather(x, i), offset_dims={},
  collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1} }
ENTRY e {
)";

class CostCaseTest : public ::testing::TestWithParam<Case> {};

TEST_P(CostCaseTest, CountsAsXlaDoes) {
  const auto module = ReadModule(absl::StrCat(kCallees, GetParam().instructions, "\n}\n"));
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->total().flops, GetParam().flops);
  EXPECT_EQ(costs->total().transcendentals, GetParam().transcendentals);
  EXPECT_EQ(costs->total().bytes_accessed, GetParam().bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, CostCaseTest,
    ::testing::Values(
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] add(a, a)", 10, 0, 120},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] tanh(a)", 0, 10, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] copy(a)", 0, 0, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = s32[10] bitcast-convert(a)", 10, 0, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[3] slice(a), slice={[2:5]}", 0, 0, 24},
        Case{"a = f32[10] parameter(0)  ROOT b = (f32[10], f32[10]) tuple(a, a)", 0, 0, 16},
        Case{"a = (f32[10], f32[10]) parameter(0)  ROOT b = (f32[10], f32[10]) opt-barrier(a)", 0, 0, 96},
        Case{"a = f32[10] parameter(0)  s = (f32[10], f32[10], u32[]) copy-start(a)  ROOT b = f32[10] copy-done(s)", 0,
             0, 188},
        Case{"a = f32[3,5] parameter(0)  b = s32[3,5] parameter(1)  ROOT c = (f32[3,5], s32[3,5]) sort(a, b), "
             "dimensions={1}, to_apply=lt2",
             60, 0, 240},
        Case{"a = f32[6,10] parameter(0)  c = s32[6,10] parameter(1)  z = f32[] parameter(2)  y = s32[] parameter(3)  "
             "ROOT b = (f32[6], s32[6]) reduce(a, c, z, y), dimensions={1}, to_apply=add2",
             108, 0, 536},
        Case{"a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  u = f32[4] parameter(2)  ROOT b = f32[10] "
             "scatter(a, i, "
             "u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
             "index_vector_dim=1, "
             "to_apply=add",
             4, 0, 64},
        Case{"a = f32[10] parameter(0)  c = s32[7] parameter(1)  ROOT b = (f32[10], s32[7]) all-reduce(a, c), "
             "replica_groups={}, to_apply=add2",
             17, 0, 136},
        Case{"a = u64[2] parameter(0)  ROOT c = (u64[2], u32[10]) rng-bit-generator(a), algorithm=rng_default", 0, 12,
             72},
        Case{"a = f32[<=10] parameter(0)  ROOT b = s32[] get-dimension-size(a), dimensions={0}", 0, 0, 48},
        Case{"p = pred[] parameter(0)  a = f32[10] parameter(1)  ROOT b = f32[10] conditional(p, a, a), "
             "true_computation=neg, false_computation=expadd",
             10, 10, 200},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] while(a), condition=yes, body=neg", 10, 0, 80},
        Case{"a = f32[<=5,3] parameter(0)  ROOT b = f32[<=5,3] negate(a)", 15, 0, 136},
        Case{"a = s4[5]{0:E(4)} parameter(0)  ROOT b = s4[5]{0:E(4)} add(a, a)", 5, 0, 9},
        Case{"a = f8e5m2[3,3] parameter(0)  ROOT r = f8e5m2[3,3] cholesky(a), lower=true", 9, 0, 9},
        Case{"a = f32[5,5] parameter(0)  b = f32[5,3] parameter(1)  ROOT r = f32[5,3] triangular-solve(a, b), "
             "left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
             150, 0, 170},
        Case{"a = c64[2,7,9] parameter(0)  ROOT r = c64[2,7,9] fft(a), fft_type=FFT, fft_length={7,9}", 6048, 0, 2016},
        Case{"x = f32[4] parameter(0)  c = f32[] parameter(1)  ROOT s = (f32[4], f32[]) scan(x, c), dimensions={0}, "
             "num_carries=1, to_apply=carry",
             1, 1, 40},
        Case{"t = token[] after-all()  a = (f32[10], s32[3]) parameter(0)  ROOT o = token[] outfeed(a, t), "
             "outfeed_shape=(f32[10], s32[3])",
             0, 0, 52},
        Case{"t = token[] after-all()  ROOT i = ((f32[3], s32[4]), token[]) infeed(t)", 0, 0, 28}));

// XLA has one form of windows that it takes for a cumulative sum.
INSTANTIATE_TEST_SUITE_P(
    ReduceWindow, CostCaseTest,
    ::testing::Values(Case{"a = f32[2,5] parameter(0)  z = f32[] constant(0)  ROOT b = f32[2,5] reduce-window(a, z), "
                           "window={size=1x9 pad=0_0x4_4}, to_apply=add",
                           6, 0, 84},
                      Case{"a = f32[2,9] parameter(0)  z = f32[] constant(0)  ROOT b = f32[2,5] reduce-window(a, z), "
                           "window={size=1x9 pad=0_0x4_4 stride=1x2}, to_apply=add",
                           6, 0, 116},
                      Case{"a = f32[2,5] parameter(0)  z = f32[] constant(0)  ROOT b = f32[2,5] reduce-window(a, z), "
                           "window={size=1x5 pad=0_0x4_0}, to_apply=add",
                           40, 0, 84},
                      Case{"a = f32[2,6] parameter(0)  z = f32[] constant(0)  ROOT b = f32[2,6] reduce-window(a, z), "
                           "window={size=1x9 pad=0_0x4_4}, to_apply=add",
                           96, 0, 100},
                      Case{"a = f32[2,5] parameter(0)  z = f32[] constant(0)  ROOT b = f32[4,5] reduce-window(a, z), "
                           "window={size=1x9 pad=1_1x4_4}, to_apply=add",
                           160, 0, 124}));

INSTANTIATE_TEST_SUITE_P(
    Products, CostCaseTest,
    ::testing::Values(
        Case{"a = f32[6,4] parameter(0)  b = f32[3,4,5] parameter(1)  g = s32[3] parameter(2)  ROOT r = f32[6,5] "
             "ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
             "rhs_group_dims={0}",
             40, 0, 468},
        Case{"a = f32[6,4] parameter(0)  b = f32[4,5] parameter(1)  g = s32[3] parameter(2)  ROOT r = f32[3,6,5] "
             "ragged-dot(a, b, g), lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}",
             720, 0, 548},
        Case{"a = f8e4m3fn[32,64] parameter(0)  b = f8e4m3fn[64,32] parameter(1)  c = f8e8m0fnu[32,2] parameter(2)  d "
             "= f8e8m0fnu[2,32] parameter(3)  ROOT r = f32[32,32] scaled-dot(a, b, c, d), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}",
             131072, 0, 8320},
        Case{"a = f32[6,8,8,2] parameter(0)  k = f32[3,3,2,9] parameter(1)  ROOT c = f32[2,8,8,9] convolution(a, k), "
             "window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, batch_group_count=3",
             34848, 0, 8328},
        Case{"a = f32[2,8,6] parameter(0)  k = f32[3,6,9] parameter(1)  ROOT c = f32[2,4,9] convolution(a, k), "
             "window={size=3 pad=-1_-1}, dim_labels=b0f_0io->b0f",
             2592, 0, 1320}));

INSTANTIATE_TEST_SUITE_P(
    Fusions, CostCaseTest,
    ::testing::Values(
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=expadd", 10, 10, 80},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=nested", 20, 10, 120},
        Case{"a = (f32[10], f32[7]) parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=element", 10, 0, 96},
        Case{"a = f32[3] parameter(0)  ROOT b = f32[3] fusion(a), kind=kLoop, calls=table", 6, 0, 36},
        Case{"a = f32[10] parameter(0)  u = f32[3] parameter(1)  i = s32[] parameter(2)  ROOT b = f32[10] fusion(a, u, "
             "i), "
             "kind=kLoop, calls=update",
             0, 0, 28},
        Case{"a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] fusion(a, i), kind=kCustom, "
             "calls=take",
             0, 0, 48},
        Case{
            "a = f32[10] parameter(0)  i = s32[4,1] parameter(1)  ROOT b = f32[4] fusion(a, i), kind=kLoop, calls=take",
            0, 0, 72},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[5] fusion(a), kind=kLoop, calls=halves", 5, 0, 60},
        Case{"a = f32[10] parameter(0)  ROOT b = (f32[10,10], f32[10], f32[10]) fusion(a), kind=kLoop, calls=twice",
             120, 0, 480 + 3 * 40},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[10] fusion(a), kind=kLoop, calls=nestedroot", 10, 10, 40},
        Case{"a = f32[10] parameter(0)  ROOT b = f32[5] fusion(a), kind=kLoop, calls=nestedhalves", 10, 0, 60},
        Case{"a = (f32[10], (f32[7], f32[9]), f32[2]) parameter(0)  ROOT b = (f32[3], f32[9]) fusion(a), kind=kLoop, "
             "calls=inner",
             0, 0, 48 + 12 + 16 + 36 + 24},
        Case{"a = (f32[10], f32[2]) parameter(0)  ROOT b = (f32[3], f32[10]) fusion(a), kind=kLoop, calls=again", 10, 0,
             52 + 12 + 16}));

TEST(CostAnalysisTest, ProductsAndConvolutions) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[3,5] parameter(0)
  b = f32[5,7] parameter(1)
  c = f32[3,7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  x = f32[2,9,3] parameter(2)
  k = f32[3,3,4] parameter(3)
  y = f32[2,9,4] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f
  ROOT t = (f32[3,7], f32[2,9,4]) tuple(c, y)
}
)");
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  const auto of = [&](absl::string_view name) {
    return costs->CostOf(module->entry_computation()->GetInstructionWithName(name)).flops;
  };
  EXPECT_EQ(of("c"), 2 * 3 * 7 * 5);
  EXPECT_EQ(of("y"), 2 * 2 * 3 * 4 * (9 + 8 + 8));  // the kernel's ends meet padding once each
}

TEST(CostAnalysisTest, CountsStayFinite) {
  std::string text = "HloModule m\nc0_ { p = f32[8] parameter(0)\n ROOT r = f32[8] exponential(p) }\n";
  for (int i = 1; i <= 400; ++i) {  // 8^800 runs in all
    absl::StrAppend(&text, "c", i, "_ { p = f32[8] parameter(0)\n a = f32[8] map(p), to_apply=c", i - 1,
                    "_\n ROOT r = f32[8] map(a), to_apply=c", i - 1, "_ }\n");
  }
  absl::StrAppend(&text, "ENTRY e { p = f32[0] parameter(0)\n z = f32[0] map(p), to_apply=c400_\n",
                  " q = f32[8] parameter(1)\n ROOT r = f32[8] map(q), to_apply=c400_ }\n");
  const auto module = ReadModule(text);
  const Cost total = CostAnalysis::Run(*module)->total();
  EXPECT_EQ(total.transcendentals, std::numeric_limits<double>::max());
  EXPECT_EQ(total.bytes_accessed, 2 * 8 * 4);
}

// Against the obvious double loop.
TEST(CostAnalysisTest, DilatedConvolutions) {
  for (const int stride : {1, 2, 7}) {
    for (const int dilation : {1, 3, 8}) {
      for (const int padding : {-2, 0, 7}) {
        constexpr int kInput = 8, kOutput = 6, kKernel = 5;
        const auto module = ReadModule(absl::StrCat(
            "HloModule m\nENTRY e { a = f32[", kInput, ",1,1] parameter(0)  b = f32[", kKernel,
            ",1,1] parameter(1)  ROOT c = f32[", kOutput, ",1,1] convolution(a, b), window={size=", kKernel,
            " stride=", stride, " pad=", padding, "_0 lhs_dilate=", dilation, "}, dim_labels=0bf_0io->0bf }\n"));
        double count = 0;
        for (int k = 0; k < kKernel; ++k) {
          for (int o = 0; o < kOutput; ++o) {
            const int position = o * stride + k - padding;
            count += position >= 0 && position % dilation == 0 && position / dilation < kInput;
          }
        }
        EXPECT_EQ(ConvolutionFlops(*module->entry_computation()->root_instruction()), 2 * count)
            << stride << " " << dilation << " " << padding;
      }
    }
  }
}

// XLA's count is negative here: -5 flops.
TEST(CostAnalysisTest, ReducingNothingCostsNothing) {
  const auto module = ReadModule(absl::StrCat(kCallees,
                                              "a = f32[0,5] parameter(0)  z = f32[] constant(0)  ROOT b = f32[5] "
                                              "reduce(a, z), dimensions={0}, to_apply=add }"));
  const Cost total = CostAnalysis::Run(*module)->total();
  EXPECT_EQ(total.flops, 0);
  EXPECT_EQ(total.bytes_accessed, 24);
}

// Numbers that no window can have, but a file.
TEST(CostAnalysisTest, AbsurdWindows) {
  for (const char* window : {"size=9223372036854775807 pad=4_4", "size=9 pad=-9223372036854775808_4",
                             "size=1 pad=9223372036854775807_9223372036854775807",
                             "size=3 stride=9223372036854775807 rhs_dilate=9223372036854775807"}) {
    const auto module = ReadModule(absl::StrCat(
        "HloModule m\nadd { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }\n",
        "ENTRY e { a = f32[5] parameter(0)  z = f32[] constant(0)  r = f32[5] reduce-window(a, z), window={", window,
        "}, to_apply=add\n k = f32[5,1,1] parameter(1)  i = f32[5,1,1] parameter(2)\n",
        " ROOT c = f32[5,1,1] convolution(i, k), window={", window, "}, dim_labels=0bf_0io->0bf }\n"));
    ASSERT_NE(module, nullptr) << window;
    const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
    ASSERT_TRUE(costs.ok()) << costs.status();
    EXPECT_GE(costs->total().flops, 0) << window;
    EXPECT_LE(costs->total().flops, std::numeric_limits<double>::max()) << window;
  }
}

// The analysis does not recurse over calls, and counts each called computation once.
TEST(CostAnalysisTest, DeepCalls) {
  constexpr int kDepth = 30000;
  std::string text = "HloModule m\nc0_ { p = f32[8] parameter(0)  ROOT r = f32[8] negate(p) }\n";
  for (int i = 1; i <= kDepth; ++i) {
    absl::StrAppend(&text, "c", i, "_ { p = f32[8] parameter(0)  ROOT r = f32[8] call(p), to_apply=c", i - 1, "_ }\n");
  }
  absl::StrAppend(&text, "ENTRY e { p = f32[8] parameter(0)  ROOT r = f32[8] call(p), to_apply=c", kDepth, "_ }\n");
  const auto module = ReadModule(text);
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->total().flops, 8);
  EXPECT_EQ(costs->computations().size(), kDepth + 2);
}

TEST(CostAnalysisTest, WithoutLayoutsNoBytes) {
  const auto module = ReadModule("HloModule m\nENTRY e { a = f32[10] parameter(0)  ROOT b = f32[10] negate(a) }\n");
  for (HloInstruction* instruction : module->entry_computation()->instructions()) {
    instruction->mutable_shape()->clear_layout();
  }
  const Cost total = CostAnalysis::Run(*module)->total();
  EXPECT_EQ(total.flops, 10);
  EXPECT_EQ(total.bytes_accessed, 0);
}

TEST(CostAnalysisTest, OtherSizes) {
  const auto module = ReadModule("HloModule m\nENTRY e { a = f32[10] parameter(0)  ROOT b = f32[10] negate(a) }\n");
  const auto size = [](const Shape& shape) { return shape.IsArray() ? 512.0 : 0.0; };
  EXPECT_EQ(CostAnalysis::Run(*module, {size, 0})->total().bytes_accessed, 1024);
}

TEST(CostAnalysisTest, Operands) {
  const auto module = ReadModule(R"(
HloModule m
ENTRY e {
  a = f32[10,20] parameter(0)
  u = f32[2,3] parameter(1)
  i = s32[] parameter(2)
  s = f32[2,3] dynamic-slice(a, i, i), dynamic_slice_sizes={2,3}
  ROOT d = f32[10,20] dynamic-update-slice(a, u, i, i)
}
)");
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  const auto of = [&](absl::string_view name) {
    return costs->DetailsOf(module->entry_computation()->GetInstructionWithName(name));
  };
  EXPECT_EQ(of("s").operands[0].bytes, 24);
  EXPECT_EQ(of("s").operands[0].utilization, 0.03);
  EXPECT_EQ(of("s").operands[2].bytes, 4);
  EXPECT_EQ(of("d").operands[0].bytes, 0);
  EXPECT_EQ(of("d").operands[0].utilization, 0.97);
  EXPECT_EQ(of("d").result_bytes, 24);
}

TEST(CostAnalysisTest, CustomCallsAreUnknown) {
  const auto module = ReadModule(
      "HloModule m\nENTRY e { a = f32[10] parameter(0)  ROOT b = f32[10] custom-call(a), custom_call_target=\"x\" }\n");
  const absl::StatusOr<CostAnalysis> costs = CostAnalysis::Run(*module);
  ASSERT_TRUE(costs.ok()) << costs.status();
  EXPECT_EQ(costs->total().unknown, 1);
  EXPECT_EQ(costs->total().bytes_accessed, 0);
}

// Nobody has verified the module.
TEST(CostAnalysisTest, TransposesThatAreNone) {
  for (const char* dimensions : {"1,0", "0,0,1", "0,1,2,3", "0,1,7", ""}) {
    const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndReturnUnverifiedModule(absl::StrCat(
        "HloModule m\nENTRY e { a = f32[2,3,4] parameter(0)  ROOT b = f32[2,3,4] transpose(a), dimensions={",
        dimensions, "} }\n"));
    if (!module.ok()) continue;  // said by the reader already
    EXPECT_TRUE(CostAnalysis::Run(**module).ok()) << dimensions;
  }
}

}  // namespace
}  // namespace kashi::analysis
